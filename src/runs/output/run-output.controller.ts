import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Get, Headers, Res, StreamableFile, UseInterceptors } from '@nestjs/common';
import type { Response } from 'express';
import type { Actor } from '../../common/access.js';
import * as json from '../../common/fields/json-schema.js';
import type { Reply } from '../../common/http/reply.js';
import type { Page } from '../../common/list/page.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { Row } from '../../common/resource/define-resource.js';
import type { Representation } from '../../common/resource/representation.js';
import { CommonServices } from '../../common/rest/common-services.service.js';
import {
  CurrentActor,
  ListParams,
  Reauthorizer,
  Target,
  type Reauthorize,
} from '../../common/rest/parameters.js';
import { resourceOf } from '../../common/rest/resource.controller.js';
import { Route } from '../../common/rest/route.js';
import { MaxEventsInterceptor } from '../events/max-events.interceptor.js';
import { eventSender, eventsRoute, listEventsOfRun } from '../events/run-events.js';
import { RunStreams } from '../live/run-streams.service.js';
import { FORMATS, formatOf, lineOf, responseOf } from './stdout-formats.js';
import { StdoutService } from './stdout.service.js';

/** Time after which the database is checked even without a message from a worker, in ms. */
const MAX_WAIT_MS = 3000;

const STDOUT = {
  kind: 'document',
  link: 'stdout',
  summary:
    'Output of the run: ?format=json, txt, ansi, html, txt_download or ansi_download; start_line, end_line.',
  texts: ['text/plain', 'text/html'],
  response: json.object({
    range: json.described(
      json.object({ start: json.INTEGER, end: json.INTEGER, absolute_end: json.INTEGER }),
      'First and last line of the content, and the number of all lines.',
    ),
    content: json.described(json.STRING, 'Output.'),
  }),
  query: [
    {
      name: 'format',
      schema: { type: 'string', enum: [...FORMATS] },
      description: 'Format of the output.',
    },
    { name: 'start_line', schema: { type: 'integer' }, description: 'First line, from 0.' },
    { name: 'end_line', schema: { type: 'integer' }, description: 'Line after the last line.' },
    { name: 'content_encoding', schema: { type: 'string' }, description: '`base64`, or omitted.' },
    {
      name: 'content_only',
      schema: { type: 'boolean' },
      description: 'HTML fragment instead of a whole document.',
    },
    { name: 'dark', schema: { type: 'boolean' }, description: 'HTML for a dark page.' },
  ],
} as const;

const STREAM = {
  kind: 'document',
  summary:
    'New events and status changes of the run as server-sent events, after Last-Event-ID or ?after=, until the run ends.',
  produces: 'text/event-stream',
  response: {
    type: 'string',
    description:
      'Messages: `job_event` (an event as in the list of events; `id` is its counter), `status` and finally `end`.',
  },
  query: [
    {
      name: 'after',
      schema: { type: 'integer', minimum: 0 },
      description: 'Counter of the last event the client has; Last-Event-ID takes precedence.',
    },
    {
      name: 'no_truncate',
      schema: { type: 'boolean' },
      description: 'Sends the whole output of events.',
    },
  ],
} as const;

/** The output of a run: the text and the live stream of its events. */
@Controller()
export abstract class RunOutputController {
  protected readonly runs = resourceOf(this);

  constructor(
    protected readonly services: CommonServices,
    private readonly outputs: StdoutService,
    private readonly streams: RunStreams,
  ) {}

  /** Responds with the output in the requested format (docs/contract/runs.md#output). */
  @Route((runs) => ({ ...STDOUT, operationId: `${runs.path}_stdout`, parent: runs }))
  @Get('stdout')
  async stdout(
    @Target() run: Row,
    @ListParams() query: QueryParameters,
    @Headers() headers: IncomingHttpHeaders,
    @Reauthorizer() reauthorize: Reauthorize,
  ): Promise<Reply | StreamableFile | object> {
    const format = formatOf(query, headers);
    if (format === 'txt_download' || format === 'ansi_download') {
      const colors = format === 'ansi_download';
      return new StreamableFile(this.outputs.stream(run.id, { colors, reauthorize }), {
        type: 'text/plain; charset=utf-8',
        disposition: `attachment; filename="${this.runs.type}_${run.id}.txt"`,
      });
    }
    const start = lineOf(query, 'start_line');
    const output = await this.outputs.read(run.id, start, lineOf(query, 'end_line'));
    return responseOf(output, format, query);
  }

  /**
   * Responds with the live stream (docs/contract/runs.md#live). There is no `related` link, because a
   * client that follows all links would wait for the end of the run.
   */
  @Route((runs) => ({ ...STREAM, operationId: `${runs.path}_events_stream`, parent: runs }))
  @Get('events/stream')
  stream(
    @Target() run: Row,
    @ListParams() query: QueryParameters,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentActor() actor: Actor,
    @Reauthorizer() reauthorize: Reauthorize,
    @Res() response: Response,
  ): Promise<void> {
    const sender = eventSender(this.services, { runs: this.runs, id: run.id, query, lastEventId });
    const following = { run, actor, reauthorize, response, sender, maxWaitMs: MAX_WAIT_MS };
    return this.streams.serve(following);
  }
}

/** The output of a run, and its events at `events/`. Jobs have `job_events/` instead. */
@Controller()
export abstract class RunOutputAndEventsController extends RunOutputController {
  @Route((runs) => eventsRoute(runs, 'events'))
  @Get('events')
  @UseInterceptors(MaxEventsInterceptor)
  events(
    @Target() run: Row,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Page<Representation>> {
    return listEventsOfRun(this.services, this.runs, run, query, actor);
  }
}
