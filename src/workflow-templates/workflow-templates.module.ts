import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RunsModule } from '../runs/runs.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { WorkflowApprovalTemplateHooks } from './workflow-approval-template.hooks.js';
import { WorkflowApprovalTemplatesController } from './workflow-approval-templates.controller.js';
import { ApprovalTemplates } from './approval-templates.service.js';
import { WorkflowJobTemplateCopyController } from './workflow-job-template-copy.controller.js';
import { NodeEdges } from './node-edges.service.js';
import { WorkflowJobTemplateHooks } from './workflow-job-template.hooks.js';
import { WorkflowJobTemplateNodeHooks } from './workflow-job-template-node.hooks.js';
import { WorkflowJobTemplateNodesController } from './workflow-job-template-nodes.controller.js';
import {
  WorkflowJobTemplatesController,
  WorkflowJobTemplateSurveyController,
  WorkflowJobTemplateWebhookKeyController,
} from './workflow-job-templates.controller.js';
import { WorkflowJobTemplatesRepository } from './workflow-job-templates.repository.js';
import { WorkflowJobTemplateNodesRepository } from './workflow-job-template-nodes.repository.js';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import {
  WorkflowJobTemplateNode,
  WorkflowJobTemplateLabel,
  WorkflowJobTemplateNodeCredential,
  WorkflowJobTemplateNodeEdge,
  WorkflowJobTemplateNodeInstanceGroup,
  WorkflowJobTemplateNodeLabel,
} from './workflow-job-template-node.entity.js';
import { WorkflowJobTemplateNodeExtension } from './workflow-job-template-node.extension.js';
import { WorkflowApprovalTemplateExtension } from './workflow-approval-template.extension.js';
import { WorkflowJobTemplateExtension } from './workflow-job-template.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      UnifiedTemplate,
      WorkflowJobTemplateLabel,
      WorkflowJobTemplateNode,
      WorkflowJobTemplateNodeCredential,
      WorkflowJobTemplateNodeEdge,
      WorkflowJobTemplateNodeInstanceGroup,
      WorkflowJobTemplateNodeLabel,
    ]),
    RunsModule,
    TemplatesModule,
    WorkflowsModule,
  ],
  controllers: [
    WorkflowJobTemplatesController,
    WorkflowJobTemplateCopyController,
    WorkflowJobTemplateSurveyController,
    WorkflowJobTemplateWebhookKeyController,
    WorkflowJobTemplateNodesController,
    WorkflowApprovalTemplatesController,
  ],
  providers: [
    WorkflowJobTemplateExtension,
    WorkflowApprovalTemplateExtension,
    WorkflowJobTemplateNodeExtension,
    WorkflowJobTemplatesRepository,
    WorkflowJobTemplateNodesRepository,
    WorkflowJobTemplateHooks,
    WorkflowJobTemplateNodeHooks,
    WorkflowApprovalTemplateHooks,
    ApprovalTemplates,
    NodeEdges,
  ],
  exports: [WorkflowJobTemplatesRepository, WorkflowJobTemplateNodesRepository],
})
export class WorkflowTemplatesModule {}
