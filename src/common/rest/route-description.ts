import type { RouteInfo } from './route.js';

/** Describes an operation for the OpenAPI document: required permission, and what its kind implies. */
export const descriptionOf = (info: RouteInfo): string =>
  [permissionOf(info), ...notesOn(info)].join(' ');

function permissionOf({ access, standing, parent, kind, needs = 'read' }: RouteInfo): string {
  if (access === 'public') return 'Needs no credentials.';
  if (access === 'signature') return 'Authenticated by the key of the template, not by a user.';
  if (standing === 'superuser') return 'For superusers.';
  if (standing === 'auditor') return 'For superusers and system auditors.';
  if (parent) return `Requires \`${needs}\` permission on the ${parent.label.toLowerCase()}.`;
  if (kind === 'list') return 'Returns the objects that the caller can read.';
  if (kind === 'create') return 'Requires permission on the objects that the body refers to.';
  return 'For any authenticated caller.';
}

function notesOn({ kind, attach, shownOnce, showsSecret, status }: RouteInfo): string[] {
  return [
    kind === 'list' ? 'Supports paging, filters, search and ordering.' : null,
    attach
      ? 'A body of `{"id": 1}` attaches an existing object, and `{"id": 1, "disassociate": true}` removes it.'
      : null,
    kind === 'replace'
      ? 'Fields that the body leaves out get their defaults; secrets keep their values.'
      : null,
    kind === 'modify' ? 'Fields that the body leaves out keep their values.' : null,
    shownOnce ? 'The response shows a secret, which no later request can read.' : null,
    showsSecret ? 'The response contains a secret, so tokens with scope `read` are refused.' : null,
    status === 202 ? 'The work is done after the response.' : null,
  ].filter((note) => note !== null);
}
