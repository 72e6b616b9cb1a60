import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { parseJson } from '../common/fields/json-bounds.js';
import { readBody } from '../common/fields/read-body.js';
import { isReadable, readAhead } from '../common/fields/variables.js';
import { BadRequest, Conflict, Invalid, type FieldErrors } from '../common/errors/errors.js';
import type { Actor } from '../common/access.js';
import type { QueryParameters } from '../common/list/query.js';
import { Idempotency, type KeyedRequest } from '../common/rest/idempotency.service.js';
import { readLines, type BodyLine } from '../common/http/lines.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { isRecord } from '../common/records.js';
import { existing } from '../common/invariants.js';
import { resource } from '../common/resource/registry.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql, type Sql } from '../database/sql.js';
import {
  type HostTarget,
  type OnConflict,
  type HostCheck,
  checkGiven,
  foreseeGiven,
  HostWritesRepository,
  writeGiven,
} from '../inventories/host-writes.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { CLASH_TEXTS, targetErrors } from './bulk-host-create.service.js';
import { HostTargetRequest } from './bulk-host.schema.js';
import { assertWithin } from './entry-list.js';
import { selectGiven } from './host-columns.js';
import { readHost, type HostEntry } from './host-entries.js';
import { HostSpool } from './host-spool.js';
import { HostAdditions, type HostTotals } from './host-additions.service.js';
import { messageOf } from '../common/errors/message-of.js';

/** Maximum number of lines whose errors are reported. Further lines are only counted. */
const MAX_ERRORS = 100;

/** Errors of a body in lines, by line number. */
class LineFaults {
  private readonly lines = new Map<number, FieldErrors>();
  private untold = 0;

  readonly most = MAX_ERRORS;

  add(line: number, faults: FieldErrors): void {
    const known = this.lines.get(line);
    if (known) Object.assign(known, faults);
    else if (this.lines.size < MAX_ERRORS) this.lines.set(line, faults);
    else this.untold += 1;
  }

  /** Adds errors whose lines are unknown. */
  addUntold(faults: number): void {
    this.untold += faults;
  }

  /** @throws Invalid with the errors of the recorded lines, and the number of further lines */
  assertNone(): void {
    if (this.lines.size === 0) return;
    throw new Invalid({
      lines: Object.fromEntries(this.lines),
      ...(this.untold > 0 ? { __all__: [`${this.untold} further lines have faults.`] } : {}),
    });
  }
}

/** Number of hosts written by one statement. */
const BATCH = 10_000;
/** Number of lines between two progress reports while the body is read. */
const REPORT_EVERY = 5000;

type Counts = Omit<HostTotals, 'groups'>;

/** Progress of a request, in lines of its body. */
export interface StreamProgress {
  phase: 'reading' | 'writing';
  lines: number;
  /** Total number of lines with a host, once all are read. */
  of?: number;
}

export type Report = (progress: StreamProgress) => void;

/** Parameters of the URL for the hosts in a body. */
interface GivenTarget {
  target: HostTarget;
  onConflict: OnConflict;
}

/** Body in lines before it is read, with the parameters of the request. */
export interface HostStream extends GivenTarget {
  /** Request that provides the lines while the client is connected. */
  source: ApiRequest;
  keyed: KeyedRequest;
  dryRun: boolean;
}

/** Received lines: validated individually, but not against each other or the inventory. */
interface Received {
  spool: HostSpool;
  faults: LineFaults;
  digest: string;
}

/**
 * Creates the hosts of a body in lines: as many as an inventory can have, all or none, in bounded memory.
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
  ) {}

  /**
   * Reads the parameters of the URL, before the body is read.
   *
   * @throws Invalid for an invalid parameter, or an inventory to which the caller cannot add hosts
   */
  async prepare(query: QueryParameters, actor: Actor): Promise<GivenTarget> {
    const { inventory: inventoryId, on_conflict: onConflict } = readBody(
      HostTargetRequest,
      lastOfEach(query),
    );
    const target = await this.hosts.findTarget(inventoryId, actor);
    const errors = targetErrors(inventoryId, target);
    if (!target || Object.keys(errors).length > 0) throw new Invalid(errors);
    return { target, onConflict };
  }

  /**
   * @throws Invalid with the errors by line; Forbidden beyond the limit of the organization; Conflict if
   *   another request took some of the names concurrently. Nothing is written in these cases.
   */
  async create(stream: HostStream, report: Report): Promise<Reply<number>> {
    const spool = await HostSpool.open();
    try {
      const { source } = stream;
      const received = await this.receive(source, spool, report);
      await source.reauthorize();
      const prepared = { ...stream, ...(await this.prepare(source.query, source.actor)) };
      const write = (): Promise<Reply<number>> => this.write(prepared, received, report);
      if (stream.dryRun) return await write();
      return await this.idempotency.once(stream.keyed, received.digest, write);
    } finally {
      await spool.close();
    }
  }

  private async receive(source: ApiRequest, spool: HostSpool, report: Report): Promise<Received> {
    const { BULK_HOST_MAX_STREAM: most } = await this.runtime.get('BULK_HOST_MAX_STREAM');
    const limits = { body: this.settings.BULK_HOST_STREAM_LIMIT, line: this.settings.BODY_LIMIT };
    const faults = new LineFaults();
    const hash = createHash('sha256');
    let count = 0;
    for await (const lines of readLines(source, limits)) {
      const given = lines.map((line) => ({ line, value: valueOf(line) }));
      const forget = await readAhead(given.flatMap(({ value }) => variablesIn(value)));
      try {
        for (const { line, value } of given) {
          count += 1;
          hash.update(`${line.text ?? ''}\n`);
          const errors: FieldErrors = {};
          const entry = readEntry(value, errors);
          if (entry) await spool.add(line.number, entry);
          else faults.add(line.number, errors);
          if (count % REPORT_EVERY === 0) report({ phase: 'reading', lines: count });
        }
      } finally {
        forget();
      }
      assertWithin('hosts', count, 'BULK_HOST_MAX_STREAM', most);
    }
    if (count === 0) throw new BadRequest('The request body has no lines.');
    return { spool, faults, digest: hash.digest('base64url') };
  }

  /** Faults of single lines and of lines together come back at once. */
  private write(stream: HostStream, received: Received, report: Report): Promise<Reply<number>> {
    const { target, dryRun, source } = stream;
    const { spool } = received;
    return this.database.transaction(async () => {
      await this.stage(spool);
      const check = await this.check(stream, received);
      const names = sql`SELECT name FROM staged_hosts`;
      const before = await this.additions.hold(target, {
        names,
        count: spool.size - check.existing,
      });
      const totals: HostTotals = { created: 0, updated: 0, unchanged: 0, groups: [] };
      if (dryRun) {
        const given = sql`SELECT * FROM staged_hosts`;
        await this.count(foreseeGiven(target.id, given), totals);
        return new Reply(200, { dry_run: true, ...answer(stream, totals) });
      }
      let written = 0;
      for await (const given of this.staged()) {
        // The client has disconnected and would never learn of the result.
        if (source.socket.destroyed) throw new BadRequest('The client went away.');
        written += await this.writeBatch(stream, given, totals, spool.namesGroups);
        report({ phase: 'writing', lines: written, of: spool.size });
      }
      if (written < spool.size) {
        throw new Conflict(
          `Another request has just taken ${spool.size - written} of these names.`,
        );
      }
      this.additions.record(target, before, totals);
      const done = answer(stream, totals);
      return new Reply(201, done, { Location: done.url });
    });
  }

  private async stage(spool: HostSpool): Promise<void> {
    await this.database.execute(sql`
      CREATE TEMPORARY TABLE staged_hosts (place integer PRIMARY KEY, name text NOT NULL,
        description text, enabled boolean, instance_id text, variables text, groups text)
      ON COMMIT DROP`);
    for await (const columns of spool.read()) {
      await this.database.execute(sql`INSERT INTO staged_hosts ${selectGiven(columns)}`);
    }
    // Without statistics the planner assumes that the table is small.
    await this.database.execute(sql`ANALYZE staged_hosts`);
  }

  private async check(
    { target, onConflict }: HostStream,
    { faults }: Received,
  ): Promise<HostCheck> {
    const given = sql`SELECT * FROM staged_hosts`;
    const options = { onConflict, most: faults.most };
    const row = existing(
      await this.database.row<{ check: HostCheck }>(
        sql`SELECT (${checkGiven(target.id, given, options)}) AS check`,
      ),
      'a SELECT without FROM has a row',
    );
    const { check } = row;
    for (const { place, name, reason } of check.clashes) {
      if (reason === 'group_is_host') {
        faults.add(place, { groups: [`${CLASH_TEXTS[reason]} (${name})`] });
      } else faults.add(place, { name: [CLASH_TEXTS[reason]] });
    }
    faults.addUntold(check.faults - check.clashes.length);
    faults.assertNone();
    return check;
  }

  /** Yields queries for the staged hosts, batch by batch in order. */
  private async *staged(): AsyncGenerator<Sql> {
    for (let after = 0; ;) {
      const part = existing(
        await this.database.row<{ last: number | null }>(sql`
        SELECT max(place) AS last FROM (
          SELECT place FROM staged_hosts WHERE place > ${after} ORDER BY place LIMIT ${BATCH}) part`),
        'an aggregate has a row',
      );
      if (part.last === null) return;
      yield sql`SELECT * FROM staged_hosts WHERE place > ${after} AND place <= ${part.last}`;
      after = part.last;
    }
  }

  /** @returns number of hosts that now have the given values */
  private async writeBatch(
    { target, onConflict }: HostStream,
    given: Sql,
    totals: HostTotals,
    namesGroups: boolean,
  ): Promise<number> {
    const written = await this.count(writeGiven(target.id, given, onConflict), totals);
    if (namesGroups) totals.groups.push(...(await this.hosts.join(target.id, given)));
    return written;
  }

  /** @returns number of hosts added to the counts */
  private async count(writing: Sql, totals: Counts): Promise<number> {
    const rows = await this.database.rows<{ result: keyof Counts; hosts: number }>(sql`
      ${writing} SELECT result, count(*)::int AS hosts FROM written GROUP BY result`);
    let written = 0;
    for (const { result, hosts } of rows) {
      totals[result] += hosts;
      written += hosts;
    }
    return written;
  }
}

/** Returns the last value of each parameter, which is the one that counts. */
const lastOfEach = (query: QueryParameters): Record<string, unknown> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat().at(-1)]));

/** Returns the numbers of written hosts. Clients read the hosts themselves from the inventory. */
function answer(
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
  isRecord(value) ? [value.variables].filter(isReadable) : [];

function readEntry(value: unknown, faults: FieldErrors): HostEntry | null {
  if (!(value instanceof LineError)) return readHost(value, faults);
  faults.__all__ = [value.message];
  return null;
}
