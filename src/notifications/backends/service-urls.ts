/** Base URLs, without a trailing slash, of services with one fixed address for all customers. */
export interface ServiceUrls {
  readonly chatA: string;
  readonly smsA: string;
  readonly incidentA: string;
}

/** Joins a base URL of the settings, with or without a trailing slash, and an absolute path. */
export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
