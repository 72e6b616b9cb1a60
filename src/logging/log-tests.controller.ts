import { Controller, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { BadRequest, Conflict } from '../common/errors/errors.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { Route } from '../common/rest/route.js';
import { logRecord } from './log-record.js';
import { LogTarget } from './log-target.service.js';

const NOT_ENABLED = 'Logging not enabled';

/** `/api/v2/settings/logging/test/` (docs/logging.md). */
@ApiTags('settings')
@ApiBearerAuth()
@Controller('api/v2/settings/logging/test')
export class LogTestsController {
  constructor(private readonly target: LogTarget) {}

  @Route({
    operationId: 'settings_logging_test',
    summary: 'Send a test record to the log aggregator.',
    systemRole: 'superuser',
    status: 202,
    isDone: true,
  })
  @Post()
  async test(): Promise<void> {
    const record = logRecord({
      source: 'awx',
      severity: 'ERROR',
      time: new Date().toISOString(),
      message: 'Connection test message',
      fields: {},
    });
    try {
      const settings = await this.target.settings();
      if (!settings.LOG_AGGREGATOR_ENABLED) throw new Conflict(NOT_ENABLED, { error: NOT_ENABLED });
      await this.target.send(settings, [record]);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new BadRequest(error.message, null, { error: error.message });
    }
  }
}
