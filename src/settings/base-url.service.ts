import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { BadRequest } from '../common/errors/errors.js';
import { Settings } from '../config/settings.js';
import { RuntimeSettings } from './runtime-settings.service.js';
import { withoutTrailing } from '../common/fields/text.js';

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '']);

/** Public address of this installation, without a trailing slash (setting `BASE_URL`). */
@Injectable()
export class BaseUrl {
  constructor(
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
  ) {}

  /**
   * Returns `BASE_URL`. If the setting is empty, returns `origin`, or else the address that the API
   * listens on, with the machine's name if the API listens on all addresses.
   *
   * @param origin origin of the request, if there is a request
   * @throws BadRequest if the origin is needed, but the Host header of the request is not valid
   */
  async get(origin?: string): Promise<string> {
    const configured = await this.configured();
    if (configured !== '') return configured;
    if (origin !== undefined) {
      if (!URL.canParse(origin)) throw new BadRequest('The Host header is not valid.');
      return origin;
    }
    const { HOST, PORT } = this.settings;
    const host = ANY_ADDRESS.has(HOST) ? hostname() : HOST;
    return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
  }

  /** Returns `BASE_URL`; empty if the setting is empty. */
  async configured(): Promise<string> {
    const { BASE_URL } = await this.runtime.get('BASE_URL');
    return withoutTrailing(BASE_URL, '/');
  }
}
