import { Injectable } from '@nestjs/common';
import { html, type Html } from '../shared/html.js';
import { PagePanel, type Panel, type PanelContext } from '../shared/panels.service.js';
import { timeView } from '../shared/value-views.js';
import { decisionForms } from './run-graph.js';

interface ShownApproval {
  url: string;
  status: string;
  description: string;
  can_approve_or_deny: boolean;
  approval_expiration: string | null;
  related: { source_workflow_job?: string; job?: string };
}

/** Renders an approval with its deadline and the approve and deny buttons. */
@Injectable()
@PagePanel('workflow_approval')
export class ApprovalPanel implements Panel<ShownApproval> {
  readonly isFirst = true;

  readonly covers = ['approve', 'deny'];

  render({ object: approval, csrf }: PanelContext<ShownApproval>): Html {
    const { source_workflow_job: workflow, job } = approval.related;
    return html`<section class="card decision" aria-labelledby="decision-title">
      <h2 id="decision-title">Decision</h2>
      ${approval.description !== '' && html`<p>${approval.description}</p>`}
      <p>${sentence(approval)}</p>
      <div class="actions">
        ${approval.can_approve_or_deny && decisionForms(approval.url, csrf, approval.url)}
        ${workflow && html`<a class="button" href="${workflow}">Show the workflow</a>`}
        ${job && html`<a class="button" href="${job}">Show the job</a>`}
      </div>
    </section>`;
  }
}

function sentence({
  status,
  can_approve_or_deny: mayDecide,
  approval_expiration: end,
  related: { job },
}: ShownApproval): Html {
  const subject = job === undefined ? 'The workflow' : 'The job';
  const role = job === undefined ? 'approve role of the workflow' : 'admin role of its template';
  if (status === 'successful') return html`Approved: ${subject.toLowerCase()} continues.`;
  if (status === 'failed') return html`Denied, or the approval timed out.`;
  if (status !== 'pending') return html`The approval ended before a decision: ${status}.`;
  return html`${subject} waits${end !== null && html` until ${timeView(end)}`}.
  ${mayDecide ? 'You can decide.' : `A user with the ${role} has to decide.`}`;
}
