import { Injectable } from '@nestjs/common';
import type { Row } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/resource/hooks.js';
import { assertDeletable } from '../jobs/job.hooks.js';

@Injectable()
export class WorkflowJobHooks implements ResourceHooks {
  async prepareDelete(row: Row): Promise<void> {
    assertDeletable(row);
  }
}
