import { superusersOnly } from '../access.js';
import { BadRequest, DomainError, Forbidden, Invalid } from '../errors/errors.js';
import { plainJson } from '../exact-json.js';
import { toBoolean } from '../fields/lenient-reader.js';
import { Reply } from '../http/reply.js';
import type { Row } from '../resource/define-resource.js';
import { isIdText } from '../resource/ids.js';
import { NOTHING_OPEN, type Caller, type OpenParts } from './route.js';
import type { DeclaredSubList, LinkContext, SubListSpec } from './sublist.js';

const OWNS_ITS_OBJECTS = 'This list owns its objects: delete the object instead of removing it.';

export const linkContextOf = (
  { parent: parentDefinition, spec }: DeclaredSubList,
  request: Pick<LinkContext, 'services' | 'actor' | 'parent'>,
): LinkContext => ({
  ...request,
  parentDefinition,
  rules: request.services.providers.rulesOf(spec),
});

/** Evaluates the rules on creating and attaching that do not depend on the body. */
export async function openPartsOf(
  list: DeclaredSubList,
  { services, actor, parent }: Caller,
): Promise<OpenParts> {
  if (!parent) return NOTHING_OPEN;
  const { spec } = list;
  const context = linkContextOf(list, { services, actor, parent });
  const attach =
    spec.attach !== undefined && (await isPermitted(() => spec.authorizeAttach?.(context)));
  const candidates = spec.candidates ? { candidates: spec.candidates(parent) } : {};
  if (!spec.create) return { attach, body: false, ...candidates };
  const isOpen = spec.mayCreateIn?.(parent) ?? true;
  if (!isOpen && !spec.attach) return { attach, body: false, isClosed: true };
  const body = isOpen && (await isPermitted(() => assertMayCreate(context, spec)));
  const injected = new Set(Object.keys(spec.create(parent)));
  return {
    attach,
    body,
    ...candidates,
    fields: spec.target().fields.filter(({ name }) => !injected.has(name)),
  };
}

/** Returns true unless the check throws a domain error. Other errors are passed on. */
export async function isPermitted(check: () => Promise<void> | undefined): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function assertMayCreate(context: LinkContext, spec: SubListSpec): Promise<void> {
  const { services, parent, actor } = context;
  if (spec.authorizeCreate) return spec.authorizeCreate(context);
  const target = spec.target();
  const injected = spec.create?.(parent) ?? {};
  // If the child's rule does not depend on the parent, the body decides.
  const isUndecided =
    Object.keys(injected).length === 0 || target.policy.add?.(injected) === superusersOnly;
  if (isUndecided && !(await services.resources.mayAdd(target, actor))) throw new Forbidden();
  if (!isUndecided) await services.resources.assertMayAdd(target, injected, actor);
  await services.references.assertUsable(target, injected, actor);
}

export async function postToSubList(
  context: LinkContext,
  spec: SubListSpec,
  body: Record<string, unknown>,
): Promise<object> {
  const { services, actor } = context;
  const detaching = toBoolean(body.disassociate) === true;
  if (spec.attach && (body.id !== undefined || detaching)) {
    return link(context, spec, body, detaching);
  }
  if (!spec.create) {
    throw new BadRequest(spec.missingId ?? `${spec.target().label} 'id' field is missing.`);
  }
  if (detaching) {
    throw new BadRequest(OWNS_ITS_OBJECTS);
  }
  const existingChild = await spec.existing?.(context, body);
  if (existingChild) return link(context, spec, { id: existingChild.id }, false);
  const target = spec.target();
  const injected = spec.create(context.parent);
  const { authorizeCreate } = spec;
  const create = () =>
    services.resources.create(target, body, actor, {
      injected,
      ...(authorizeCreate ? { authorize: () => authorizeCreate(context) } : {}),
    });
  let row: Row;
  try {
    row = await (spec.existing ? services.database.savepoint(create) : create());
  } catch (error) {
    // A concurrent request can have created the child.
    const created = error instanceof Invalid ? await spec.existing?.(context, body) : undefined;
    if (!created) throw error;
    return link(context, spec, { id: created.id }, false);
  }
  await spec.attach?.(context, row);
  return services.resources.show(target, row, actor);
}

/**
 * Attaches with `{id}` and detaches with `{id, disassociate: true}`. Both return 204, also when
 * repeated.
 */
async function link(
  context: LinkContext,
  spec: SubListSpec,
  body: Record<string, unknown>,
  detaching: boolean,
): Promise<Reply> {
  const { services, actor } = context;
  const target = spec.target();
  if (detaching && !spec.detach) throw new BadRequest(OWNS_ITS_OBJECTS);
  if (body.id === undefined) throw new BadRequest('"id" is required to disassociate');
  const sentId = plainJson(body.id);
  const id = typeof sentId === 'string' && isIdText(target, sentId) ? Number(sentId) : sentId;
  if (typeof id !== 'number' || !Number.isInteger(id)) {
    throw new BadRequest('"id" field must be an integer.');
  }
  await spec.lockFirst?.(context);
  const child = await services.rows.lockForLink(target, id);
  if (!child) {
    throw new BadRequest(`${target.label.replaceAll(' ', '')} matching query does not exist.`);
  }
  const childAction = detaching ? 'read' : (spec.childNeeds ?? 'read');
  await services.references.assertAllowed(target, [id], childAction, actor);
  if (detaching) await spec.detach?.(context, child);
  else await spec.attach?.(context, child);
  return new Reply(204);
}
