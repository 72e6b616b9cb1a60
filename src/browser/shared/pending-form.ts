import { resultOr } from '../../common/errors/errors.js';
import type { Field } from '../../common/fields/field.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { CSRF_FIELD } from '../../common/http/csrf.js';
import { ANONYMOUS_LIMIT } from '../../common/http/request-bodies.service.js';
import type { RouteInfo } from '../../common/rest/route.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import type { Submission } from './browser-form.js';
import { isRecord } from '../../common/records.js';

/** A form that was sent with an expired session; the browser keeps the form during the login. */
export interface PendingForm extends Submission {
  /** Path that the form was sent to. */
  path: string;
  method: string;
}

/** Maximum length, which leaves space for the other fields of the login form. */
const MAX_LENGTH = ANONYMOUS_LIMIT - 4096;

/**
 * Returns true for fields whose values must not be shown again: secrets, and documents with
 * secrets.
 */
const isHidden = (field: Field, definition: ResourceDefinition | undefined): boolean =>
  field.kind === 'secret' ||
  field.writeOnly ||
  (definition?.auditHidden.includes(field.name) ?? false);

/**
 * Returns the values of a form to keep during a login, without declared secrets and without fields
 * that the form marks as secret. Returns null without values, for values that the login form has no space
 * for, and for pages outside of the API, which show no form again and do not declare their secrets.
 */
export function pendingForm(
  { path, method }: { path: string; method: string },
  { values, raw, secrets, shown = [] }: Submission,
  info: RouteInfo | undefined,
): PendingForm | null {
  if (!path.startsWith('/api/v2/')) return null;
  const hidden = (info?.body ?? []).filter((field) => isHidden(field, info?.resource));
  const dropped = new Set([CSRF_FIELD, ...secrets, ...hidden.map(({ name }) => name)]);
  // A name such as `document.member` belongs to a document that may be hidden.
  const isDropped = (name: string): boolean =>
    dropped.has(name) || dropped.has(name.split('.')[0] ?? name);
  const kept = Object.fromEntries(Object.entries(values).filter(([name]) => !isDropped(name)));
  // The raw text may contain secrets.
  const text = hidden.length > 0 ? null : raw;
  if (text === null && Object.keys(kept).length === 0) return null;
  const form = {
    path,
    method,
    values: kept,
    raw: text,
    secrets: [],
    ...(raw === null ? { shown } : {}),
  };
  // The login form contains the pending form, and its size is limited.
  return encodeURIComponent(JSON.stringify(form)).length > MAX_LENGTH ? null : form;
}

/** Parses the pending form of a login page; returns null for invalid input. */
export function readPending(text: unknown): PendingForm | null {
  if (typeof text !== 'string' || text === '') return null;
  const value = resultOr(() => parseJson(text), null);
  if (!isRecord(value) || !isRecord(value.values)) return null;
  const { path, method, values, raw, shown } = value;
  if (typeof path !== 'string' || typeof method !== 'string') return null;
  return {
    path,
    method,
    values,
    raw: typeof raw === 'string' ? raw : null,
    secrets: [],
    ...(Array.isArray(shown) ? { shown: shown.map(String) } : {}),
  };
}
