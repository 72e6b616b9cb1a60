import type { ImportPlan, Matched } from './import-plan.js';
import type { KnownHost, PlannedHost } from './known-objects.js';

export interface ObjectChanges {
  added: number;
  changed: number;
  removed: number;
}

/** Changes of an import, displayed with the run. */
export interface ImportChanges {
  hosts: ObjectChanges & { disabled: number };
  groups: ObjectChanges;
  variables: boolean;
}

export type ReportLevel = 'DEBUG' | 'INFO' | 'WARNING';

/** Receives the messages of an import. */
export interface ImportReport {
  readonly report: (level: ReportLevel, message: string) => void;
}

/** Maximum number of objects that each kind of message names; further objects are only counted. */
const MAX_NAMED = 1000;

/** Variables that an import stores, as texts by object id; unchanged objects are missing. */
export type Texts = ReadonlyMap<number, string>;

/** Counts the changes of an import and reports them line by line. */
export function describeChanges(
  {
    plan: { groups, hosts },
    groupTexts,
    hostTexts,
    variables,
  }: { plan: ImportPlan; groupTexts: Texts; hostTexts: Texts; variables: boolean },
  { report }: ImportReport,
): ImportChanges {
  if (variables) report('INFO', 'Inventory variables updated from "all" group');
  else report('DEBUG', 'Inventory variables unmodified');
  const renamed = hosts.matched.filter(({ known, planned }) => known.name !== planned.name);
  const switched = hosts.matched.filter(isSwitched);
  const renames = renamed.map(
    ({ known, planned }) => `Host renamed from "${known.name}" to "${planned.name}"`,
  );
  const switches = switched.map(
    ({ planned: { name, isEnabled } }) =>
      `Host "${name}" is now ${isEnabled === true ? 'enabled' : 'disabled'}`,
  );
  const messages: [ReportLevel, string[]][] = [
    ['INFO', groups.created.map(({ name }) => `Group "${name}" added`)],
    ['INFO', groups.removed.map(({ name }) => `Group "${name}" deleted`)],
    ['INFO', hosts.created.map(({ name }) => `Host "${name}" added`)],
    ['INFO', hosts.removed.map(({ name }) => `Host "${name}" deleted`)],
    ['DEBUG', renames],
    ['INFO', switches],
  ];
  for (const [level, lines] of messages) {
    for (const line of lines.slice(0, MAX_NAMED)) report(level, line);
    if (lines.length > MAX_NAMED) {
      report(level, `… and ${lines.length - MAX_NAMED} more like this`);
    }
  }
  return {
    hosts: changesOfHosts(hosts, hostTexts),
    groups: {
      added: groups.created.length,
      changed: groupTexts.size,
      removed: groups.removed.length,
    },
    variables,
  };
}

function changesOfHosts(
  { created, matched, removed }: ImportPlan['hosts'],
  texts: Texts,
): ImportChanges['hosts'] {
  const changed = matched.filter(
    ({ known, planned }) =>
      texts.has(known.id) || known.name !== planned.name || isSwitched({ known, planned }),
  );
  const disabled = [...created, ...matched.filter(isSwitched).map(({ planned }) => planned)];
  return {
    added: created.length,
    changed: changed.length,
    removed: removed.length,
    disabled: disabled.filter(({ isEnabled }) => isEnabled === false).length,
  };
}

const isSwitched = ({ known, planned }: Matched<KnownHost, PlannedHost>): boolean =>
  planned.isEnabled !== null && planned.isEnabled !== known.enabled;
