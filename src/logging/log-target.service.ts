import { Injectable } from '@nestjs/common';
import { UnsealError } from '../common/crypto/secret-box.js';
import { resolveAllowed } from '../outbound/address-guard.js';
import { maskText } from '../outbound/mask.js';
import { OutboundClient } from '../outbound/outbound-client.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import {
  datagram,
  streamFrame,
  LOG_TARGET_SETTINGS,
  logRequest,
  type LogTargetSettings,
} from './log-formats.js';
import type { LogRecord } from './log-record.js';
import { sendDatagrams, writeToConnection } from './log-sockets.js';

/** Maximum number of characters of a response that an error quotes. */
const MAX_QUOTE = 200;

/** Statuses of responses that refuse the content of a request, not its sender or its address. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** The receiver refused the records. It will probably refuse them again. */
export class RecordsRefusedError extends OutboundError {}

/** Sends records to the log aggregator of the settings. */
@Injectable()
export class LogTarget {
  constructor(
    private readonly runtime: RuntimeSettings,
    private readonly http: OutboundClient,
  ) {}

  /**
   * Returns the current settings.
   *
   * @throws OutboundError if the password cannot be decrypted
   */
  async settings(): Promise<LogTargetSettings> {
    try {
      return await this.runtime.get(...LOG_TARGET_SETTINGS);
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      throw new OutboundError('invalid', 'The password cannot be decrypted. Enter it again.');
    }
  }

  /**
   * Sends records in order. When the promise resolves, the receiver has the records, except with udp.
   *
   * @throws OutboundError with a message for the administrator
   * @throws RecordsRefusedError
   */
  async send(settings: LogTargetSettings, records: readonly LogRecord[]): Promise<void> {
    const { LOG_AGGREGATOR_PROTOCOL: protocol, LOG_AGGREGATOR_TYPE: type } = settings;
    if (protocol === 'https') return this.post(settings, records);
    if (settings.LOG_AGGREGATOR_PORT === null) {
      throw new OutboundError('invalid', `Port required for ${protocol}`);
    }
    const timeoutMs = settings.LOG_AGGREGATOR_TCP_TIMEOUT * 1000;
    const host = settings.LOG_AGGREGATOR_HOST ?? '';
    const { address } = await resolveAllowed(host, this.http.guard, timeoutMs);
    const target = { host, address, port: settings.LOG_AGGREGATOR_PORT };
    if (protocol === 'udp') {
      return sendDatagrams(
        target,
        records.map((record) => datagram(type, record)),
      );
    }
    const tls = protocol === 'tls';
    const verifyTls = settings.LOG_AGGREGATOR_VERIFY_CERT;
    const text = records.map((record) => streamFrame(type, record)).join('');
    return writeToConnection({ ...target, tls, verifyTls, timeoutMs }, text);
  }

  private async post(settings: LogTargetSettings, records: readonly LogRecord[]): Promise<void> {
    const request = requestFor(settings, records);
    const { status, body } = await this.http.request({
      ...request,
      method: 'POST',
      verifyTls: settings.LOG_AGGREGATOR_VERIFY_CERT,
      signal: AbortSignal.timeout(settings.LOG_AGGREGATOR_TCP_TIMEOUT * 1000),
    });
    if (status >= 200 && status < 300) return;
    const { authorization = '' } = request.headers;
    const secrets = [authorization.replace(/^\w+ /, ''), settings.LOG_AGGREGATOR_PASSWORD];
    const quote = maskText(body, secrets).replace(/\s+/g, ' ').trim().slice(0, MAX_QUOTE);
    const text = `The log aggregator returned ${status}: ${quote}`;
    throw REFUSALS.has(status)
      ? new RecordsRefusedError('invalid', text)
      : new OutboundError('invalid', text);
  }
}

function requestFor(settings: LogTargetSettings, records: readonly LogRecord[]) {
  try {
    return logRequest(settings, records);
  } catch (error) {
    throw new OutboundError('invalid', 'The host is not a host name or URL.', { cause: error });
  }
}
