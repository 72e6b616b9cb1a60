import type { Actor } from '../../common/access.js';
import { resultOr } from '../../common/errors/errors.js';
import { parseVariables, VariablesError } from '../../common/fields/variables.js';
import { labelOf } from '../../common/fields/label.js';
import { html, type Html, type HtmlValue } from '../shared/html.js';
import { folded, scrollTable } from '../shared/layout.js';
import { shorten, timeView, objectTitleOf } from '../shared/value-views.js';
import { resource, type Row } from '../../common/resource/define-resource.js';
import { summariesOf } from '../../common/resource/representation.js';
import type { Database } from '../../database/database.js';
import { STORED_PROMPTS } from '../../prompts/prompt-columns.js';
import type { RunTask } from '../../runs/events/job-events.repository.js';

/** Compared columns; variables and tasks are compared separately. */
const COLUMNS = [
  'scm_revision',
  'playbook',
  'project_id',
  ...STORED_PROMPTS.map(([, column]) => column),
];
/** Types of the objects that columns refer to; the comparison shows the names of the objects. */
const REFERENCES = new Map([
  ['project_id', 'project'],
  ['inventory_id', 'inventory'],
]);
const MAX_TASKS = 20;
const MAX_VALUE = 160;

/** A value that differs between the two runs. */
interface Difference {
  name: string;
  before: string;
  now: string;
}

/** Differences between a run and the last successful run of its template. */
export interface Comparison {
  before: { id: number; finished: string };
  differences: readonly Difference[];
}

/** Names of objects by column and id. */
type Names = ReadonlyMap<string, ReadonlyMap<unknown, string>>;

/** Returns the names of the differing references that the caller may read. */
export async function namesOfChanged(
  before: Row,
  now: Row,
  reader: { database: Database; actor: Actor },
): Promise<Names> {
  const names = new Map<string, ReadonlyMap<unknown, string>>();
  for (const [column, type] of REFERENCES) {
    if (before[column] === now[column]) continue;
    const ids = [before[column], now[column]].filter((id) => typeof id === 'number');
    const found = await summariesOf(resource(type), ids, reader);
    names.set(
      column,
      new Map([...found].map(([id, item]) => [id, objectTitleOf({ type, ...item })])),
    );
  }
  return names;
}

/** Compares a run with an earlier run of its template. */
export function compare(before: Row, now: Row, names: Names, tasks: ComparedTasks): Comparison {
  const nameOf = (column: string, value: unknown): unknown =>
    names.get(column)?.get(value) ?? value;
  const differences = [
    ...COLUMNS.flatMap((column) =>
      differenceOf(column, nameOf(column, before[column]), nameOf(column, now[column])),
    ),
    ...variableDifferences(before, now),
    ...taskDifferences(tasks),
  ];
  return { before: { id: before.id, finished: String(before.finished) }, differences };
}

interface ComparedTasks {
  before: readonly RunTask[];
  now: readonly RunTask[];
}

function differenceOf(column: string, before: unknown, now: unknown): Difference[] {
  if ((before ?? '') === (now ?? '')) return [];
  const name = labelOf(column.replace(/_id$/, '').replace(/^scm_/, ''));
  return [{ name, before: textOf(before), now: textOf(now) }];
}

/** Compares variables. Secrets in them were masked before they were stored. */
function variableDifferences(before: Row, now: Row): Difference[] {
  const [old, current] = [variablesOf(before), variablesOf(now)];
  const names = new Set([...Object.keys(old), ...Object.keys(current)]);
  return [...names].flatMap((name) => {
    const [was, is] = [textOf(old[name]), textOf(current[name])];
    return was === is ? [] : [{ name: `Variable ${name}`, before: was, now: is }];
  });
}

const variablesOf = ({ extra_vars: text }: Row): Record<string, unknown> =>
  resultOr(() => parseVariables(String(text ?? '')), {}, VariablesError);

function taskDifferences({ before, now }: ComparedTasks): Difference[] {
  const namesOf = (tasks: readonly RunTask[]): Set<string> =>
    new Set(tasks.map(({ task }) => task));
  const [old, current] = [namesOf(before), namesOf(now)];
  // A run that ended early skipped its last tasks, so only new tasks are differences.
  return [...current]
    .filter((task) => !old.has(task))
    .slice(0, MAX_TASKS)
    .map((task) => ({ name: 'Task', before: '', now: task }));
}

const textOf = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '';
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE);
};

/** Renders the differences as a collapsible table. */
export function comparisonView(
  { before, differences }: Comparison,
  { open }: { open: boolean },
): Html {
  const other = html`<a href="/api/v2/jobs/${before.id}/">#${before.id}</a>`;
  const since = html`${other} of ${timeView(before.finished)}`;
  if (differences.length === 0) {
    return html`<p class="hint">
      No changes since the last successful run ${since}: revision, options, variables and tasks are
      the same.
    </p>`;
  }
  return folded(
    `Changes since the last successful run (${differences.length})`,
    html`<p class="hint">Compared with ${since}.</p>
      ${scrollTable(
        'Changes',
        ['Field', 'Last success', 'This run'],
        differences.map(
          ({ name, before: was, now }) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td data-label="Last success">${valueOf(was)}</td>
              <td data-label="This run">${valueOf(now)}</td>
            </tr>`,
        ),
        'changes stacks',
      )}`,
    { open },
  );
}

const valueOf = (text: string): HtmlValue =>
  text === '' ? html`<span class="none">not set</span>` : html`<code>${text}</code>`;
