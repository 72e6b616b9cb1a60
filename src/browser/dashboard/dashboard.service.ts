import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { BookmarkedObjects, type BookmarkedObject } from '../shared/bookmarked-objects.service.js';
import type { PageContext } from '../shared/page-context.js';
import { PanelSource } from '../shared/panels.service.js';
import { formUrl } from '../shared/form-parameters.js';
import { findResource, resource } from '../../common/resource/define-resource.js';
import { NotificationsRepository } from '../../notifications/notifications.repository.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { RunStatisticsRepository, type DayOutcomes } from '../../runs/run-statistics.repository.js';
import { RunOverviewsRepository, type ListedRun } from '../../runs/run-overviews.repository.js';
import {
  WebhookDeliveriesRepository,
  type VerdictCount,
} from '../../webhooks/webhook-deliveries.repository.js';

/** Number of days of the dashboard, including today. */
export const DAYS = 14;
/** Maximum number of rows in a list; the lists of the API are complete. */
const MAX_ROWS = 8;
/**
 * Maximum number of the newest rows of a table that are read, so that the cost is independent of
 * the table size.
 */
const NEWEST = 20_000;
const LOOKBACK = { days: DAYS, newest: NEWEST };

export interface DashboardRun {
  type: string;
  name: string;
  status: string;
  /** Path of the run's page. */
  url: string;
  since: string;
  /** Number of all runs of the list, including those that are not shown. */
  total: number;
}

interface FailingDestination {
  name: string;
  url: string;
  failures: number;
  error: string;
}

export interface Dashboard {
  outcomes: DayOutcomes[];
  active: DashboardRun[];
  failures: DashboardRun[];
  /** Runs that wait for an approval by the caller. */
  approvals: DashboardRun[];
  destinations: FailingDestination[];
  verdicts: VerdictCount[];
  starred: BookmarkedObject[];
  recent: BookmarkedObject[];
  /** Steps of the first setup; empty once a job was launched, and for callers who may create no template. */
  steps: SetupStep[];
  /** True if the page updates without a reload. */
  isLive: boolean;
}

/** A step of the first setup. */
export interface SetupStep {
  label: string;
  about: string;
  isDone: boolean;
  /** Path of the form or list of the step; null for callers who may not take the step. */
  url: string | null;
}

/** Steps of the first setup in the order shown, by the type of object that each step creates. */
const STEPS = [
  [
    'organization',
    'Create an organization',
    'An organization owns objects and defines who may use them.',
  ],
  ['project', 'Add a project', 'A git repository with playbooks.'],
  ['inventory', 'Add an inventory', 'The hosts that playbooks run on.'],
  ['credential', 'Add a credential', 'An SSH key, a password or a token that jobs log in with.'],
  [
    'job_template',
    'Create a job template',
    'A playbook, an inventory and the options of its runs.',
  ],
] as const;

/** Loads the parts of the dashboard that the caller may read. */
@Injectable()
export class DashboardService {
  constructor(
    private readonly runs: RunOverviewsRepository,
    private readonly statistics: RunStatisticsRepository,
    private readonly notifications: NotificationsRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly bookmarked: BookmarkedObjects,
    private readonly settings: RuntimeSettings,
    private readonly source: PanelSource,
  ) {}

  async load(actor: Actor, { starred, recent }: PageContext['bookmarks']): Promise<Dashboard> {
    const outcomes = await this.statistics.outcomes(actor, LOOKBACK);
    const active = shown(await this.runs.active(actor, MAX_ROWS));
    const hasJobs = outcomes.some(({ successful, failed }) => successful + failed > 0);
    return {
      outcomes,
      active,
      failures: shown(await this.runs.failed(actor, LOOKBACK, MAX_ROWS)),
      approvals: shown(await this.runs.awaiting(actor, MAX_ROWS)),
      destinations: await this.destinations(actor),
      verdicts: await this.deliveries.countVerdicts(actor, LOOKBACK),
      starred: await this.bookmarked.find(starred, actor),
      recent: await this.bookmarked.find(recent, actor),
      steps: hasJobs ? [] : await this.steps(actor),
      isLive: (await this.settings.get('UI_LIVE_UPDATES_ENABLED')).UI_LIVE_UPDATES_ENABLED,
    };
  }

  private async steps(actor: Actor): Promise<SetupStep[]> {
    if (await this.exists('job', actor)) return [];
    const steps: SetupStep[] = [];
    for (const [type, label, about] of STEPS) {
      const list = `/api/v2/${resource(type).path}/`;
      const { body: mayCreate } = await this.source.openParts(list, actor);
      const isDone = await this.exists(type, actor);
      steps.push({ label, about, isDone, url: mayCreate ? formUrl(list, 'post') : null });
    }
    // Every user may create a credential; a setup ends with a template.
    if (steps.at(-1)?.url === null) return [];
    const launch = { label: 'Launch the template', about: 'The template page has the button.' };
    return [...steps, { ...launch, isDone: false, url: '/api/v2/job_templates/' }];
  }

  private async exists(type: string, actor: Actor): Promise<boolean> {
    return (await this.source.list(resource(type), { page_size: '1' }, actor)).length > 0;
  }

  /** Returns notification templates with recent failures or retries. */
  private async destinations(actor: Actor): Promise<FailingDestination[]> {
    const rows = await this.notifications.failing(actor, DAYS, NEWEST, MAX_ROWS);
    return rows.map(({ id, name, failures, error }) => {
      const url = resource('notification_template').url(id);
      return { name, failures, error, url };
    });
  }
}

const shown = (runs: readonly ListedRun[]): DashboardRun[] =>
  runs.map(({ id, ...run }) => ({
    ...run,
    url: findResource(run.type)?.url(id) ?? resource('unified_job').url(id),
  }));
