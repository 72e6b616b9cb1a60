import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import { CurrentActor, Reauthorizer, Target, type Reauthorize } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { RunStreams, type StreamSender, type Sent } from '../runs/live/run-streams.service.js';
import { workflowJobs } from './workflow-jobs.resource.js';
import { WorkflowJobNodesRepository } from './workflow-job-nodes.repository.js';

/** Polling interval in ms. Polling is needed because messages about a node's run do not name its workflow. */
const MAX_WAIT_MS = 1000;

/**
 * Live stream of a workflow job (docs/contract/runs.md#live). Requires read access to the workflow
 * job.
 */
@ApiTags('workflow_jobs')
@Controller('api/v2/workflow_jobs/:id/events/stream')
export class WorkflowLiveController {
  constructor(
    private readonly nodes: WorkflowJobNodesRepository,
    private readonly streams: RunStreams,
  ) {}

  @Route({
    operationId: 'workflow_jobs_events_stream',
    summary: 'Changes of nodes and status as server-sent events, until the workflow job ends.',
    parent: workflowJobs,
    produces: 'text/event-stream',
    response: {
      type: 'string',
      description:
        'Messages: `node` (`id`, `job` and `status` of all nodes at first, then of changed nodes), `status` and finally `end`.',
    },
  })
  @Get()
  async follow(
    @Target() run: Row,
    @CurrentActor() actor: Actor,
    @Reauthorizer() reauthorize: Reauthorize,
    @Res() response: Response,
  ): Promise<void> {
    const sender = this.nodeSender(run.id);
    await this.streams.serve({
      run,
      actor,
      reauthorize,
      response,
      sender,
      maxWaitMs: MAX_WAIT_MS,
    });
  }

  /** Returns a sender of the nodes whose status has changed since the last call. */
  private nodeSender(runId: number): StreamSender {
    const sentStatuses = new Map<number, string>();
    return async (stream, signal) => {
      let sent: Sent = 'nothing';
      for (const { id, job, status } of await this.nodes.states(runId)) {
        if (signal.aborted) break;
        if (sentStatuses.get(id) === status) continue;
        sentStatuses.set(id, status);
        sent = 'all';
        await stream.send({ event: 'node', data: { id, job, status } });
      }
      return sent;
    };
  }
}
