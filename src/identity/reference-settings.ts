import { isRecord } from '../common/records.js';
import { ENCRYPTED } from '../common/fields/text.js';

/** Settings of the reference product for logins. */
const ABOUT_LOGINS = /^(?:SOCIAL_AUTH_|AUTH_LDAP_|SAML_|RADIUS_|TACACSPLUS_)/;

/** Settings of the reference product that need no counterpart. */
const IGNORED =
  /_CALLBACK_URL$|_METADATA_URL$|^SAML_AUTO_CREATE_OBJECTS$|^SOCIAL_AUTH_USERNAME_IS_FULL_EMAIL$|^RADIUS_PORT$|^TACACSPLUS_(?:PORT|SESSION_TIMEOUT|AUTH_PROTOCOL|REM_ADDR)$/;

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Response to `GET /api/v2/settings/all/` of the reference product. Records which settings were
 * read.
 */
export class ReferenceSettings {
  private readonly read = new Set<string>();

  constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  /** Returns a setting; undefined if it is not set. */
  value(name: string): unknown {
    this.read.add(name);
    const value = this.values[name];
    return isUnset(value) ? undefined : value;
  }

  text(name: string): string {
    const value = this.value(name);
    return typeof value === 'string' ? value.trim() : '';
  }

  record(name: string): Record<string, unknown> {
    const value = this.value(name);
    return isRecord(value) ? value : {};
  }

  /** Returns a secret; empty if the response masks it. */
  secret(name: string): string {
    const text = this.text(name);
    return text === ENCRYPTED ? '' : text;
  }

  /** Marks settings as read. */
  ignore(pattern: RegExp): void {
    for (const name of Object.keys(this.values)) if (pattern.test(name)) this.read.add(name);
  }

  /** Returns the names of the settings for logins that are set and were not read. */
  unread(): string[] {
    return Object.keys(this.values).filter(
      (name) =>
        ABOUT_LOGINS.test(name) &&
        !IGNORED.test(name) &&
        !this.read.has(name) &&
        !isUnset(this.values[name]),
    );
  }
}

/** Returns the texts of a text or a list. */
export const textList = (value: unknown): string[] =>
  [value].flat().filter((text): text is string => typeof text === 'string' && text !== '');
