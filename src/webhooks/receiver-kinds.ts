/** A kind of template that receives webhooks, and what it launches; both are resource types. */
export interface ReceiverKind {
  type: string;
  runs: string;
}

/** Every kind of template with receivers; a further one is a further line. */
export const RECEIVER_KINDS: readonly ReceiverKind[] = [
  { type: 'job_template', runs: 'job' },
  { type: 'workflow_job_template', runs: 'workflow_job' },
];
