/*
 * job.h - one piece of work behind the screen, on a thread of its own.
 */
#ifndef EM_JOB_H
#define EM_JOB_H

#include "core/base/base.h"

typedef struct em_job em_job;

/* Starts fn(ctx), which may take long and obeys em_job_cancel wherever em_progress_step is asked.  The job has what it
 * gets to itself until em_job_end. */
int em_job_start(int (*fn)(void *ctx, em_err *err), void *ctx, em_job **out, em_err *err) EM_MUST_CHECK;
bool em_job_wait(em_job *j, int ms); /* has it ended?  Waits for that, at most so long; -1 = as long as it takes */
void em_job_cancel(em_job *j);
/* Waits for the end; what fn returned, with its message. */
int em_job_end(em_job *j, em_err *err) EM_MUST_CHECK;

#endif
