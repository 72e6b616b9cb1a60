import { isSame } from './comparison.js';
import { type Associations, type ModuleRun, nameOf } from './module-run.js';
import { isFilled, isItem, type Item, pythonJson } from './python-values.js';
import type { Lookup, ResourceTable } from './resource-tables.js';
import { member, ModuleFailure, related } from './wire.js';

/** Ids by the parameters that named the objects. */
type Found = Record<string, number[]>;

/**
 * Creates, changes, finds or deletes the object of a task.
 *
 * @returns the object in the last response; undefined after a search or deletion
 */
export async function runResource(run: ModuleRun, table: ResourceTable): Promise<Item | undefined> {
  const { params, outcome } = run;
  const found: Found = {};
  await lookUp(run, table.before, found);
  const name = String(params[table.identity ?? 'name']);
  const query = parentsOf(table, found);
  let existing = await run.find(table.endpoint, { nameOrId: name, query });
  if (params.state === 'exists' && existing) {
    outcome.id = member(existing, 'id');
    return undefined;
  }
  if (typeof params.copy_from === 'string') {
    const among = table.copyWithin ? query : {};
    existing ??= await run.copy(table.endpoint, params.copy_from, name, among);
  }
  if (params.state === 'absent') {
    await run.remove(existing);
    return undefined;
  }
  await lookUp(run, table.after, found);
  await lookUp(run, table.owners, found);
  await keepMembers(run, existing, found);
  const survey = await surveyChange(run, existing);
  const item = await run.ensure(
    existing,
    fieldsOf(run, table, existing, found),
    await endpointOf(run, table),
    associationsOf(table, found),
  );
  if (survey && outcome.changed) await writeSurvey(run, item, survey);
  return item;
}

async function lookUp(
  run: ModuleRun,
  lookups: readonly Lookup[] | undefined,
  found: Found,
): Promise<void> {
  for (const { parameter, endpoint, within = [] } of lookups ?? []) {
    const given = run.params[parameter];
    if (given === undefined) continue;
    const names = Array.isArray(given) ? given.map(String) : [String(given)];
    const query = Object.fromEntries(
      within.filter((parent) => found[parent]).map((parent) => [parent, found[parent]?.[0]]),
    );
    found[parameter] = [];
    for (const name of names) found[parameter].push(await run.idOf(endpoint, name, query));
  }
}

const parentsOf = ({ within = [], nullParents }: ResourceTable, found: Found): Item =>
  Object.fromEntries(
    within
      .filter((parent) => nullParents || found[parent])
      .map((parent) => [parent, found[parent]?.[0] ?? null]),
  );

function fieldsOf(
  { params }: ModuleRun,
  table: ResourceTable,
  existing: Item | undefined,
  found: Found,
): Item {
  const {
    identity = 'name',
    always,
    fields = [],
    filled = [],
    texts = [],
    filledTexts = [],
  } = table;
  const own = existing ? nameOf(existing) : params[identity];
  const given = (name: string): boolean => params[name] !== undefined;
  return {
    [identity]: params[`new_${identity}`] ?? own,
    ...always,
    ...pick(fields.filter(given), (name) => params[name]),
    ...pick(
      filled.filter((name) => isFilled(params[name])),
      (name) => params[name],
    ),
    ...pick(texts.filter(given), (name) => pythonJson(params[name])),
    ...pick(filledTexts.filter(given), (name) =>
      isFilled(params[name]) ? pythonJson(params[name]) : params[name],
    ),
    ...referencesOf(table, existing, found),
  };
}

/** Returns the ids of referenced objects. Owners are sent only with a new object. */
function referencesOf(table: ResourceTable, existing: Item | undefined, found: Found): Item {
  const { before = [], after = [], owners = [] } = table;
  const names = [...before, ...after, ...(existing ? [] : owners)]
    .filter(({ parameter, to = 'field' }) => to === 'field' && found[parameter])
    .map(({ parameter }) => parameter);
  return pick(names, (name) => found[name]?.[0]);
}

const pick = (names: readonly string[], valueOf: (name: string) => unknown): Item =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)]));

function associationsOf({ after = [], skipEmptyLists }: ResourceTable, found: Found): Associations {
  const lists = after.filter(({ to }) => to === 'list').map(({ parameter }) => parameter);
  const given = lists.flatMap((parameter): [string, number[]][] => {
    const ids = found[parameter];
    return ids && !(skipEmptyLists && ids.length === 0) ? [[parameter, ids]] : [];
  });
  return Object.fromEntries(given);
}

async function endpointOf(run: ModuleRun, { endpoint, below }: ResourceTable): Promise<string> {
  const parent = below && run.params[below.parameter];
  if (!below || parent === undefined) return endpoint;
  return `${below.endpoint}/${await run.idOf(below.endpoint, String(parent))}/${endpoint}`;
}

/** Adds the present members of a group if the task preserves them. */
async function keepMembers(
  run: ModuleRun,
  existing: Item | undefined,
  found: Found,
): Promise<void> {
  for (const list of ['hosts', 'children']) {
    const ids = found[list];
    if (!existing || !ids || run.params[`preserve_existing_${list}`] !== true) continue;
    for (const item of await run.all(related(existing, list))) ids.push(Number(member(item, 'id')));
  }
}

/** @returns the survey to be written, if it differs from the present one */
async function surveyChange(run: ModuleRun, existing: Item | undefined): Promise<Item | undefined> {
  const survey = run.params.survey_spec;
  if (!isItem(survey)) return undefined;
  const present = existing && (await run.wire.get(related(existing, 'survey_spec'))).json;
  if (present && isSame(survey, present)) return undefined;
  run.outcome.changed = true;
  return survey;
}

async function writeSurvey({ wire }: ModuleRun, item: Item, survey: Item): Promise<void> {
  const link = related(item, 'survey_spec');
  const isEmpty = Object.keys(survey).length === 0;
  const { status, json } = await (isEmpty ? wire.delete(link) : wire.post(link, survey));
  if (status !== 200) throw new ModuleFailure(`Failed to write the survey: ${pythonJson(json)}`);
}
