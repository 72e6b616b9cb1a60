import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { parseJson } from '../common/fields/json-bounds.js';
import { readBody } from '../common/fields/read-body.js';
import { isWithinYamlLimit, readAhead } from '../common/fields/variables.js';
import {
  BadRequest,
  Conflict,
  type FieldErrors,
  Invalid,
  messageOf,
  TooManyRequests,
} from '../common/errors/errors.js';
import type { Actor } from '../common/access.js';
import type { QueryParameters } from '../common/list/query.js';
import { Idempotency, type KeyedRequest } from '../common/rest/idempotency.service.js';
import { readLines, type BodyLine } from '../common/http/lines.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { GroupMember } from '../common/processes/group-member.js';
import { isRecord } from '../common/records.js';
import { resource } from '../common/resource/define-resource.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import {
  type HostTarget,
  type OnConflict,
  type HostCheck,
  checkQuery,
  dryRunQuery,
  HostWritesRepository,
  writeQuery,
} from '../inventories/host-writes.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { CLASH_TEXTS, targetErrors } from './bulk-host-create.service.js';
import { HostTargetRequest } from './bulk-host.dto.js';
import { assertWithin } from './bulk-limits.js';
import { selectEntries } from './host-columns.js';
import { readHost, type HostEntry } from './host-entries.js';
import { HostSpool } from './host-spool.js';
import { HostAdditions, type HostTotals } from './host-additions.service.js';

/**
 * Maximum number of bodies of one user that are stored at the same time, on one machine: each takes a file of up
 * to `BULK_HOST_STREAM_LIMIT`, for as long as the client sends.
 */
const MAX_BODIES_PER_USER = 4;
const RETRY_SECONDS = 5;
/** Maximum number of lines whose errors are reported; further lines are only counted. */
const MAX_ERRORS = 100;

/** Errors of an NDJSON body, by line number. */
class ErrorsByLine {
  private readonly lines = new Map<number, FieldErrors>();
  private omitted = 0;

  add(line: number, errors: FieldErrors): void {
    const known = this.lines.get(line);
    if (known) Object.assign(known, errors);
    else if (this.lines.size < MAX_ERRORS) this.lines.set(line, errors);
    else this.omitted += 1;
  }

  /** Adds errors whose lines are unknown. */
  addOmitted(count: number): void {
    this.omitted += count;
  }

  /** @throws Invalid with the errors of the recorded lines, and the number of further lines */
  assertNone(): void {
    if (this.lines.size === 0) return;
    throw new Invalid({
      lines: Object.fromEntries(this.lines),
      ...(this.omitted > 0 ? { __all__: [`${this.omitted} further lines have errors.`] } : {}),
    });
  }
}

/** Number of hosts written by one statement. */
const WRITE_BATCH = 10_000;
/** Number of lines between two progress reports while the body is read. */
const REPORT_INTERVAL = 5000;

type Counts = Omit<HostTotals, 'groups'>;

/** Progress of a request, in lines of its body. */
export interface StreamProgress {
  phase: 'reading' | 'writing';
  lines: number;
  /** Total number of lines with a host, once all lines are read. */
  of?: number;
}

export type Report = (progress: StreamProgress) => void;

/** Parameters of the URL for an NDJSON body. */
interface StreamTarget {
  target: HostTarget;
  onConflict: OnConflict;
}

/** NDJSON body that is not read yet, with the parameters of the request. */
export interface HostStream extends StreamTarget {
  /** Request that provides the lines while the client is connected. */
  source: ApiRequest;
  keyed: KeyedRequest;
  dryRun: boolean;
}

/** Received lines: each is validated, but not against other lines or the inventory. */
interface Upload {
  spool: HostSpool;
  lineErrors: ErrorsByLine;
  digest: string;
}

/**
 * Creates all hosts of an NDJSON body or none. Uses a bounded amount of memory.
 * The body is read and validated first; the transaction begins when the body is complete.
 */
@Injectable()
export class BulkHostStream {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
    private readonly hosts: HostWritesRepository,
    private readonly additions: HostAdditions,
    private readonly idempotency: Idempotency,
    private readonly processes: GroupMember,
  ) {}

  /**
   * Reads the parameters of the URL, before the body is read.
   *
   * @throws Invalid for an invalid parameter, or an inventory to which the caller cannot add hosts
   */
  async prepare(query: QueryParameters, actor: Actor): Promise<StreamTarget> {
    const { inventory: inventoryId, on_conflict: onConflict } = readBody(
      HostTargetRequest,
      lastValues(query),
    );
    const target = await this.hosts.findTarget(inventoryId, actor);
    const errors = targetErrors(inventoryId, target);
    if (!target || Object.keys(errors).length > 0) throw new Invalid(errors);
    return { target, onConflict };
  }

  /**
   * @throws Invalid with the errors by line; Forbidden if the host limit of the organization is exceeded;
   *   Conflict if a concurrent request took some of the names; BadRequest for a body without lines, an
   *   incomplete body, or a disconnected client; PayloadTooLarge; TooManyRequests. Nothing is written in these
   *   cases.
   */
  async create(stream: HostStream, report: Report): Promise<Reply<number>> {
    const bodies = `host lines of ${stream.source.actor.id}`;
    if (!(await this.processes.take(bodies, MAX_BODIES_PER_USER))) {
      throw new TooManyRequests(RETRY_SECONDS);
    }
    try {
      return await this.createWithin(stream, report);
    } finally {
      this.processes.free(bodies);
    }
  }

  private async createWithin(stream: HostStream, report: Report): Promise<Reply<number>> {
    const spool = await HostSpool.open();
    try {
      const { source } = stream;
      const received = await this.receive(stream, spool, report);
      await source.reauthorize();
      const prepared = { ...stream, ...(await this.prepare(source.query, source.actor)) };
      const write = (): Promise<Reply<number>> => this.write(prepared, received, report);
      if (stream.dryRun) return await write();
      return await this.idempotency.once(stream.keyed, received.digest, write);
    } finally {
      await spool.close();
    }
  }

  private async receive(
    { source, onConflict }: HostStream,
    spool: HostSpool,
    report: Report,
  ): Promise<Upload> {
    const { BULK_HOST_MAX_STREAM: max } = await this.runtime.get('BULK_HOST_MAX_STREAM');
    const limits = { body: this.settings.BULK_HOST_STREAM_LIMIT, line: this.settings.BODY_LIMIT };
    const lineErrors = new ErrorsByLine();
    const hash = createHash('sha256');
    let count = 0;
    for await (const lines of readLines(source, limits)) {
      const parsed = lines.map((line) => ({ line, value: valueOf(line) }));
      const releaseCache = await readAhead(parsed.flatMap(({ value }) => variablesIn(value)));
      try {
        for (const { line, value } of parsed) {
          count += 1;
          hash.update(`${line.text ?? ''}\n`);
          const entryErrors: FieldErrors = {};
          const entry = readEntry(value, entryErrors, onConflict);
          if (entry) await spool.add(line.number, entry, line.text?.length ?? 0);
          else lineErrors.add(line.number, entryErrors);
          if (count % REPORT_INTERVAL === 0) report({ phase: 'reading', lines: count });
        }
      } finally {
        releaseCache();
      }
      assertWithin('hosts', count, 'BULK_HOST_MAX_STREAM', max);
    }
    if (count === 0) throw new BadRequest('The request body has no lines.');
    return { spool, lineErrors, digest: hash.digest('base64url') };
  }

  /** Writes the hosts. Reports the errors of single lines together with conflicts between lines. */
  private write(stream: HostStream, received: Upload, report: Report): Promise<Reply<number>> {
    const { target, dryRun, source } = stream;
    const { spool } = received;
    return this.database.transaction(async () => {
      await this.stage(spool);
      const check = await this.check(stream, received);
      const names = sql`SELECT name FROM staged_hosts`;
      const countBefore = await this.additions.lock(target, {
        names,
        count: spool.size - check.existing,
      });
      const totals: HostTotals = { created: 0, updated: 0, unchanged: 0, groups: [] };
      if (dryRun) {
        const rows = sql`SELECT * FROM staged_hosts`;
        await this.count(dryRunQuery(target.id, rows), totals);
        return new Reply(200, { dry_run: true, ...responseBody(stream, totals) });
      }
      let written = 0;
      for await (const batch of this.stagedBatches()) {
        // A disconnected client would not receive the result.
        if (source.socket.destroyed) throw new BadRequest('The client disconnected.');
        written += await this.writeBatch(stream, batch, totals, spool.hasGroups);
        report({ phase: 'writing', lines: written, of: spool.size });
      }
      if (written < spool.size) {
        throw new Conflict(
          `Another request has just taken ${spool.size - written} of these names.`,
        );
      }
      this.additions.record(target, countBefore, totals);
      const body = responseBody(stream, totals);
      return new Reply(201, body, { Location: body.url });
    });
  }

  private async stage(spool: HostSpool): Promise<void> {
    await this.database.execute(sql`
      CREATE TEMPORARY TABLE staged_hosts (place integer PRIMARY KEY, name text NOT NULL,
        description text, enabled boolean, instance_id text, variables text, groups text)
      ON COMMIT DROP`);
    for await (const columns of spool.read()) {
      await this.database.execute(sql`INSERT INTO staged_hosts ${selectEntries(columns)}`);
    }
    // Without statistics the planner assumes that the table is small.
    await this.database.execute(sql`ANALYZE staged_hosts`);
  }

  private async check(
    { target, onConflict }: HostStream,
    { lineErrors }: Upload,
  ): Promise<HostCheck> {
    const rows = sql`SELECT * FROM staged_hosts`;
    const options = { onConflict, max: MAX_ERRORS };
    const { check } = await this.database.rowOrFail<{ check: HostCheck }>(sql`
      SELECT (${checkQuery(target.id, rows, options)}) AS check`);
    for (const { place, name, reason } of check.clashes) {
      if (reason === 'group_is_host') {
        lineErrors.add(place, { groups: [`${CLASH_TEXTS[reason]} (${name})`] });
      } else lineErrors.add(place, { name: [CLASH_TEXTS[reason]] });
    }
    lineErrors.addOmitted(check.faults - check.clashes.length);
    lineErrors.assertNone();
    return check;
  }

  /** Yields a query for each batch of staged hosts, in order. */
  private async *stagedBatches(): AsyncGenerator<Sql> {
    for (let after = 0; ;) {
      const part = await this.database.rowOrFail<{ last: number | null }>(sql`
        SELECT max(place) AS last FROM (
          SELECT place FROM staged_hosts WHERE place > ${after} ORDER BY place LIMIT ${WRITE_BATCH}) part`);
      if (part.last === null) return;
      yield sql`SELECT * FROM staged_hosts WHERE place > ${after} AND place <= ${part.last}`;
      after = part.last;
    }
  }

  /** @returns number of hosts that now have the requested values */
  private async writeBatch(
    { target, onConflict }: HostStream,
    batch: Sql,
    totals: HostTotals,
    hasGroups: boolean,
  ): Promise<number> {
    const written = await this.count(writeQuery(target.id, batch, onConflict), totals);
    if (hasGroups) totals.groups.push(...(await this.additions.join(target.id, batch)));
    return written;
  }

  /** @returns number of hosts added to the counts */
  private async count(query: Sql, totals: Counts): Promise<number> {
    const rows = await this.database.rows<{ result: keyof Counts; hosts: number }>(sql`
      ${query} SELECT result, count(*)::int AS hosts FROM written GROUP BY result`);
    let written = 0;
    for (const { result, hosts } of rows) {
      totals[result] += hosts;
      written += hosts;
    }
    return written;
  }
}

/** Returns the last value of each parameter; earlier values are ignored. */
const lastValues = (query: QueryParameters): Record<string, unknown> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat().at(-1)]));

/** Returns the counts of the written hosts and the URL of the inventory, but not the hosts themselves. */
function responseBody(
  { target, onConflict }: HostStream,
  { created, updated, unchanged }: HostTotals,
): Record<string, unknown> & { url: string } {
  const url = resource('inventory').url(target.id);
  const others = onConflict === 'update' ? { updated, unchanged } : {};
  return { url, inventory: target.id, created, ...others };
}

/** Returns the value of a line, or the reason why the line is not JSON. */
function valueOf({ text }: BodyLine): unknown {
  if (text === null) return new LineError('The line is too long, or not UTF-8.');
  try {
    return parseJson(text);
  } catch (error) {
    return new LineError(`JSON parse error - ${messageOf(error)}`);
  }
}

class LineError extends Error {}

const variablesIn = (value: unknown): string[] =>
  isRecord(value) ? [value.variables].filter(isWithinYamlLimit) : [];

function readEntry(value: unknown, errors: FieldErrors, onConflict: OnConflict): HostEntry | null {
  if (!(value instanceof LineError)) return readHost(value, errors, onConflict);
  errors.__all__ = [value.message];
  return null;
}
