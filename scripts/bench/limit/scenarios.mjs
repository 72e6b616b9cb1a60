import { readList, readObject } from './statements.mjs';

/** @typedef {import('./routes.d.mts').Objects} Objects */
/** @typedef {import('./routes.d.mts').Scenario} Scenario */

const BY_NAME = 't.name, t.id';
const BY_END = 't.finished DESC, t.id';
const NEWEST = 't.id DESC';

/**
 * Returns the requests of clients for lists and single objects.
 *
 * @param {Objects} objects
 * @returns {Scenario[]}
 */
export const scenariosOf = (objects) => [
  ...hosts(objects),
  ...collections(objects),
  ...runs(objects),
  ...logs(objects),
  ...singles(objects),
];

/** @param {Objects} objects @returns {Scenario[]} */
function hosts({ inventory }) {
  const path = `inventories/${inventory}/hosts/`;
  const where = `t.inventory_id = ${inventory}`;
  const matches = "t.name ILIKE '%00421%'";
  const found = `${matches} OR t.description ILIKE '%00421%'`;
  const big = "t.inventory_id IN (SELECT id FROM inventories WHERE name = 'Big')";
  const list = listOf('hosts');
  return [
    list('hosts of one inventory, by id', `${path}?order_by=id`, { where }),
    list('hosts by inventory, by id', `hosts/?inventory=${inventory}&order_by=id`, { where }),
    list('the same, no count', `${path}?order_by=id&count_disabled=1`, { where, counted: false }),
    list('the same, 200 a page', `${path}?order_by=id&page_size=200`, { where, size: 200 }),
    list('the same, default order', path, { where, order: BY_NAME }),
    list('the same, name contains', `${path}?name__icontains=00421`, {
      where,
      matches,
      order: BY_NAME,
    }),
    list('the same, search', `${path}?search=00421`, { where, matches: found, order: BY_NAME }),
    list('the same, one name', `${path}?name=host-0000421`, {
      where: `${where} AND t.name = 'host-0000421'`,
      order: BY_NAME,
    }),
    list('hosts by name of inventory', 'hosts/?inventory__name=Big&order_by=id', { where: big }),
    list('all hosts, by id', 'hosts/?order_by=id', {}),
    list('all hosts, by name', 'hosts/', { order: BY_NAME }),
    list('member: hosts', 'hosts/?order_by=id', { member: true }),
    list('member: hosts of one', `${path}?order_by=id`, { where, member: true }),
  ];
}

/** @param {Objects} objects @returns {Scenario[]} */
function collections({ inventory, organization }) {
  const templates = listOf('job_templates');
  const teams = listOf('teams');
  return [
    listOf('groups')('groups of one inventory', `inventories/${inventory}/groups/?order_by=id`, {
      where: `t.inventory_id = ${inventory}`,
    }),
    teams('teams', 'teams/?order_by=id', {}),
    teams('teams of one', `organizations/${organization}/teams/?order_by=name`, {
      where: `t.organization_id = ${organization}`,
      order: BY_NAME,
    }),
    listOf('inventories')('inventories', 'inventories/', { order: BY_NAME }),
    templates('templates', 'job_templates/', { order: BY_NAME }),
    templates('member: templates', 'job_templates/', { order: BY_NAME, member: true }),
  ];
}

/** @param {Objects} objects @returns {Scenario[]} */
function runs({ template, organization }) {
  const matches = "t.name ILIKE '%run-00421%' OR t.description ILIKE '%run-00421%'";
  const bench = "t.organization_id IN (SELECT id FROM organizations WHERE name = 'Bench')";
  const list = listOf('jobs');
  const all = listOf('unified_jobs');
  const ofOne = `jobs/?organization=${organization}&order_by=-id`;
  return [
    list('jobs', 'jobs/', {}),
    list('jobs, newest first', 'jobs/?order_by=-id', { order: NEWEST }),
    list('jobs by end', 'jobs/?order_by=-finished', { order: BY_END }),
    list('jobs by creation', 'jobs/?order_by=-created', { order: 't.created DESC, t.id' }),
    list('failed jobs by end', 'jobs/?status=failed&order_by=-finished', {
      where: "t.status = 'failed'",
      order: BY_END,
    }),
    list('jobs of one template', `job_templates/${template}/jobs/?order_by=-finished`, {
      where: `t.job_template_id = ${template}`,
      order: BY_END,
    }),
    list('jobs of one organization', ofOne, {
      where: `t.organization_id = ${organization}`,
      order: NEWEST,
    }),
    list('jobs by organization', 'jobs/?organization__name=Bench&order_by=-id', {
      where: bench,
      order: NEWEST,
    }),
    list('jobs, search', 'jobs/?search=run-00421', { matches }),
    list('member: jobs', 'jobs/', { member: true }),
    list('member: jobs by end', 'jobs/?order_by=-finished', { order: BY_END, member: true }),
    list('member: jobs, search', 'jobs/?search=run-00421', { matches, member: true }),
    all('all runs by end', 'unified_jobs/?order_by=-finished', { order: BY_END }),
    all('all runs of a type', 'unified_jobs/?type=job&order_by=-id', {
      where: "t.type = 'job'",
      order: NEWEST,
    }),
  ];
}

/** @param {Objects} objects @returns {Scenario[]} */
function logs({ template, job, notifier }) {
  const events = listOf('job_events');
  const activity = listOf('activity_stream');
  const sent = listOf('notifications');
  const deliveries = `job_templates/${template}/webhook_deliveries/`;
  return [
    events('events', 'job_events/', {}),
    events('events of one run', `jobs/${job}/job_events/?order_by=counter`, {
      where: `t.job_id = ${job}`,
      order: 't.counter, t.id',
    }),
    activity('activity', 'activity_stream/', {}),
    activity('activity by time', 'activity_stream/?order_by=-timestamp', {
      order: 't.timestamp DESC, t.id',
    }),
    listOf('webhook_deliveries')('deliveries of one template', deliveries, {
      where: `t.template_id = ${template}`,
      order: NEWEST,
    }),
    sent('notifications', 'notifications/?order_by=-created', {
      order: 't.created DESC, t.id',
    }),
    sent('notifications of one', `notification_templates/${notifier}/notifications/?order_by=-id`, {
      where: `t.notification_template_id = ${notifier}`,
      order: NEWEST,
    }),
  ];
}

/** @param {Objects} objects @returns {Scenario[]} */
const singles = ({ host, template, team }) => [
  { name: 'one host', read: readObject('hosts', host), member: false, isObject: true },
  {
    name: 'one template',
    read: readObject('job_templates', template),
    member: false,
    isObject: true,
  },
  { name: 'one team', read: readObject('teams', team), member: false, isObject: true },
];

/**
 * @param {Parameters<typeof readList>[0]} table
 * @returns {(name: string, path: string, options: Parameters<typeof readList>[2]) => Scenario}
 */
const listOf = (table) => (name, path, options) => ({
  name,
  read: readList(table, path, options),
  isObject: false,
  member: options.member ?? false,
});
