import { isRecord } from '../../common/records.js';
import { OPTION_DEFAULTS } from '../../prompts/prompt-columns.js';
import { contextOf, type MessageContext } from './context.js';
import { HOST_STATUS_KEYS } from './allow-list.js';
import { APPROVAL_STATUS, type ApprovalEvent, type MessageEvent } from './message-events.js';
import { asStarted, type ApprovalFacts, type MessageFacts } from './run-facts.js';

const STARTED = '2019-08-07T21:46:38.362630Z';
const FINISHED = '2019-08-07T21:46:45.127433Z';

const HOST = {
  ok: 1,
  changed: 1,
  dark: 0,
  failures: 0,
  skipped: 0,
  processed: 1,
  rescued: 0,
  ignored: 0,
  failed: false,
};

const STUB_APPROVAL = {
  approval_status: 'approved',
  approval_node_name: 'Stub Approval',
  workflow_url: 'https://controller.example/#/jobs/workflow/41',
};

const STUB_RUN: Readonly<Record<string, unknown>> = {
  id: 42,
  type: 'job',
  url: '/api/v2/jobs/42/',
  created: STARTED,
  modified: FINISHED,
  name: 'Stub Job',
  description: '',
  ...OPTION_DEFAULTS,
  playbook: 'site.yml',
  force_handlers: false,
  start_at_task: '',
  use_fact_cache: false,
  launch_type: 'manual',
  status: 'successful',
  failed: false,
  started: STARTED,
  finished: FINISHED,
  elapsed: 6.765,
  job_explanation: '',
  execution_node: 'node-1',
  controller_node: 'node-1',
  allow_simultaneous: false,
  scm_revision: '0123456789abcdef0123456789abcdef01234567',
  job_slice_number: 0,
  custom_virtualenv: '',
  artifacts: {},
  summary_fields: {
    inventory: {
      id: 1,
      name: 'Stub Inventory',
      description: '',
      has_active_failures: false,
      total_hosts: 1,
      hosts_with_active_failures: 0,
      total_groups: 0,
      has_inventory_sources: false,
      total_inventory_sources: 0,
      inventory_sources_with_failures: 0,
      organization_id: 1,
      kind: '',
    },
    project: {
      id: 2,
      name: 'Stub Project',
      description: '',
      status: 'successful',
      scm_type: 'git',
    },
    job_template: { id: 3, name: 'Stub Template', description: '' },
    unified_job_template: {
      id: 3,
      name: 'Stub Template',
      description: '',
      unified_job_type: 'job',
    },
    instance_group: { name: 'default', id: 4 },
    created_by: { id: 5, username: 'admin', first_name: '', last_name: '' },
    schedule: { id: 6, name: 'Stub Schedule', description: '', next_run: STARTED },
    labels: { count: 0, results: [] },
  },
};

/** Facts of an example run that was successful. */
export const STUB_FACTS: MessageFacts = {
  kind: 'job',
  representation: STUB_RUN,
  uiUrl: 'https://controller.example/#/jobs/playbook/42',
  traceback: '',
  extraVars: '{}',
  credential: 'Stub Credential',
  hosts: { localhost: HOST },
};

/** Returns the facts of an example run at an event, for test notifications. */
export function exampleFacts(message: MessageEvent): MessageFacts {
  switch (message.event) {
    case 'started':
      return asStarted(STUB_FACTS);
    case 'success':
      return STUB_FACTS;
    case 'error':
      return {
        ...STUB_FACTS,
        representation: { ...STUB_RUN, status: 'failed', failed: true },
        hosts: { localhost: { ...HOST, failures: 1, failed: true } },
      };
    case 'workflow_approval':
      return {
        ...asStarted(STUB_FACTS),
        kind: 'workflow_job',
        uiUrl: STUB_APPROVAL.workflow_url,
        approval: approvalAt(message.approval),
      };
  }
}

function approvalAt(event: ApprovalEvent): ApprovalFacts {
  return {
    id: 43,
    nodeName: STUB_APPROVAL.approval_node_name,
    status: APPROVAL_STATUS[event],
    workflowUrl: STUB_APPROVAL.workflow_url,
    started: STARTED,
    finished: event === 'running' ? null : FINISHED,
  };
}

/**
 * Returns the variables of an example run, for the validation of templates. Every variable of the contract
 * has a value, so an undefined name is an unknown variable.
 */
export function stubContext(): MessageContext {
  const context = contextOf(STUB_FACTS);
  const host_status_counts = Object.fromEntries(HOST_STATUS_KEYS.map((key) => [key, 1]));
  return {
    ...context,
    ...STUB_APPROVAL,
    job: { ...(isRecord(context.job) ? context.job : {}), ...STUB_APPROVAL, host_status_counts },
  };
}
