import { Injectable } from '@nestjs/common';
import { permit, type Actor } from '../common/access.js';
import { findResource, resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { ident, sql, type Sql } from '../database/sql.js';

/** Days the dashboard looks back, today included. */
export const DAYS = 14;
/** Rows of a list; the lists of the API have all. */
const MAX_ROWS = 8;
/** Only so many of the newest rows of a table are looked at: the page costs the same in any size. */
const NEWEST = 20_000;

export interface DayCount {
  /** `2026-01-31`, in UTC. */
  day: string;
  successful: number;
  failed: number;
}

export interface ShownRun {
  type: string;
  name: string;
  status: string;
  /** Path of its page. */
  url: string;
  since: string;
  /** Of all like it, those that are not shown included. */
  total: number;
}

export interface FailingDestination {
  name: string;
  url: string;
  failures: number;
  error: string;
}

export interface Dashboard {
  days: DayCount[];
  active: ShownRun[];
  failures: ShownRun[];
  /** Waiting for a decision that the caller may make. */
  approvals: ShownRun[];
  destinations: FailingDestination[];
  verdicts: { verdict: string; deliveries: number }[];
}

interface RunRow extends Record<string, unknown> {
  id: number;
  type: string;
  name: string;
  status: string;
  since: string;
  total: number;
}

/** What has happened lately, as far as the caller may read it: one statement for each part. */
@Injectable()
export class DashboardService {
  constructor(private readonly database: Database) {}

  async load(actor: Actor): Promise<Dashboard> {
    const active = sql`t.status IN ('new', 'pending', 'waiting', 'running')`;
    const failed = sql`t.status IN ('failed', 'error') AND ${newest('unified_jobs', 't')}
      AND t.finished >= now() - make_interval(days => ${DAYS})`;
    return {
      days: await this.days(actor),
      active: await this.runs(active, sql`coalesce(t.started, t.created)`, actor),
      failures: await this.runs(failed, sql`t.finished`, actor),
      approvals: await this.runs(awaiting(actor), sql`t.created`, actor),
      destinations: await this.destinations(actor),
      verdicts: await this.verdicts(actor),
    };
  }

  private days(actor: Actor): Promise<DayCount[]> {
    return this.database.rows<DayCount & Record<string, unknown>>(sql`
      SELECT to_char(day, 'YYYY-MM-DD') AS day, coalesce(successful, 0)::int AS successful,
        coalesce(failed, 0)::int AS failed
      FROM generate_series((now() AT TIME ZONE 'UTC')::date - ${DAYS - 1}::int,
        (now() AT TIME ZONE 'UTC')::date, interval '1 day') AS day
      LEFT JOIN (
        SELECT (t.finished AT TIME ZONE 'UTC')::date AS finished_day,
          count(*) FILTER (WHERE t.status = 'successful') AS successful,
          count(*) FILTER (WHERE t.status IN ('failed', 'error')) AS failed
        FROM unified_jobs t
        WHERE ${newest('unified_jobs', 't')}
          AND t.finished >= now() - make_interval(days => ${DAYS}) AND ${readable('unified_job', 't', actor)}
        GROUP BY 1
      ) counted ON counted.finished_day = day
      ORDER BY day`);
  }

  private async runs(which: Sql, since: Sql, actor: Actor): Promise<ShownRun[]> {
    const rows = await this.database.rows<RunRow>(sql`
      SELECT t.id, t.type, t.name, t.status, ${since} AS since, (count(*) OVER ())::int AS total
      FROM unified_jobs t
      WHERE ${which} AND ${readable('unified_job', 't', actor)}
      ORDER BY t.id DESC LIMIT ${MAX_ROWS}`);
    return rows.map(({ id, ...run }) => ({
      ...run,
      url: findResource(run.type)?.url(id) ?? resource('unified_job').url(id),
    }));
  }

  /** Destinations that got nothing lately, or that are being tried again. */
  private async destinations(actor: Actor): Promise<FailingDestination[]> {
    const rows = await this.database.rows<
      FailingDestination & { id: number } & Record<string, unknown>
    >(sql`
      SELECT tpl.id, tpl.name, count(*)::int AS failures,
        (array_agg(t.error ORDER BY t.id DESC))[1] AS error
      FROM notifications t JOIN notification_templates tpl ON tpl.id = t.notification_template_id
      WHERE ${newest('notifications', 't')} AND t.status IN ('failed', 'pending') AND t.error <> ''
        AND t.created >= now() - make_interval(days => ${DAYS})
        AND ${readable('notification_template', 'tpl', actor)}
      GROUP BY tpl.id ORDER BY max(t.id) DESC LIMIT ${MAX_ROWS}`);
    return rows.map(({ id, name, failures, error }) => {
      const url = resource('notification_template').url(id);
      return { name, failures, error, url };
    });
  }

  private verdicts(actor: Actor): Promise<Dashboard['verdicts']> {
    return this.database.rows<{ verdict: string; deliveries: number }>(sql`
      SELECT t.verdict, count(*)::int AS deliveries FROM webhook_deliveries t
      WHERE ${newest('webhook_deliveries', 't')}
        AND t.received >= now() - make_interval(days => ${DAYS})
        AND ${readable('webhook_delivery', 't', actor)}
      GROUP BY t.verdict ORDER BY t.verdict`);
  }
}

const readable = (type: string, alias: string, actor: Actor): Sql =>
  sql`(${permit(resource(type).policy, 'read', alias, actor)})`;

const awaiting = (actor: Actor): Sql => sql`
  t.type = 'workflow_approval' AND t.status = 'pending'
  AND (${permit(resource('workflow_approval').policy, 'approve', 't', actor)})`;

const newest = (table: string, alias: string): Sql =>
  sql`${ident(alias, 'id')} > (SELECT coalesce(max(id), 0) - ${NEWEST} FROM ${ident(table)})`;
