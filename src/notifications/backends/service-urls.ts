/** Base URLs, without a trailing slash, of the services that have one fixed address for everyone. */
export interface ServiceUrls {
  readonly chatA: string;
  readonly smsA: string;
  readonly incidentA: string;
}

/** Joins a base URL of the settings, with or without a trailing slash, and an absolute path. */
export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
