/* schema.h - the tables of the store. */
#ifndef EM_STORE_SCHEMA_H
#define EM_STORE_SCHEMA_H

#define EM_STORE_VERSION 1          /* PRAGMA user_version; raise it with every change of the tables */
#define EM_STORE_APP_ID  0x656d6d79 /* PRAGMA application_id: "emmy" */

extern const char em_store_schema[];

#endif
