import { Logger } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { currentScope } from '../common/http/request-scope.js';
import { loggedPath } from '../common/rest/security-events.service.js';
import type { LogLines } from './log-lines.service.js';

/** Logs responses with a 4xx status in the format of the setting `API_400_ERROR_LOG_FORMAT`. */
export function logRefusals(lines: LogLines): RequestHandler {
  const logger = new Logger('Requests');
  return ({ path }, response, next) => {
    const scope = currentScope();
    response.once('finish', () => {
      const { statusCode: status } = response;
      if (status < 400 || status > 499 || lines.refusalFormat === '') return;
      const values: Record<string, string> = {
        status_code: String(status),
        user_name: scope?.actor?.username ?? 'AnonymousUser',
        url_path: loggedPath(path),
        remote_addr: scope?.sourceIp ?? '',
      };
      logger.warn(
        lines.refusalFormat.replace(/\{(\w+)\}/g, (text, name: string) => values[name] ?? text),
      );
    });
    next();
  };
}
