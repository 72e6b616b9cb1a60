import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { TemplatesModule } from '../templates/templates.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { ApprovalTemplateHooks } from './approval-template.hooks.js';
import { WorkflowApprovalTemplatesController } from './workflow-approval-templates.controller.js';
import { ApprovalTemplates } from './approval-templates.service.js';
import { WorkflowTemplateCopyController } from './workflow-template-copy.controller.js';
import { NodeEdges } from './node-edges.service.js';
import { WorkflowTemplateHooks } from './workflow-template.hooks.js';
import { WorkflowTemplateNodeHooks } from './workflow-template-node.hooks.js';
import { WorkflowJobTemplateNodesController } from './workflow-job-template-nodes.controller.js';
import {
  WorkflowJobTemplatesController,
  WorkflowJobTemplateSurveyController,
  WorkflowJobTemplateWebhookKeyController,
} from './workflow-job-templates.controller.js';
import { WorkflowTemplatesRepository } from './workflow-templates.repository.js';
import { WorkflowTemplateNodesRepository } from './workflow-template-nodes.repository.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UnifiedTemplate } from '../templates/unified-template.entity.js';
import {
  WorkflowTemplateNode,
  WorkflowTemplateLabel,
  WorkflowTemplateNodeCredential,
  WorkflowTemplateNodeEdge,
  WorkflowTemplateNodeInstanceGroup,
  WorkflowTemplateNodeLabel,
} from './workflow-template-node.entity.js';
import { WorkflowTemplateNodeExtension } from './workflow-template-node.extension.js';
import { ApprovalTemplateExtension } from './approval-template.extension.js';
import { WorkflowTemplateExtension } from './workflow-template.extension.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      UnifiedTemplate,
      WorkflowTemplateLabel,
      WorkflowTemplateNode,
      WorkflowTemplateNodeCredential,
      WorkflowTemplateNodeEdge,
      WorkflowTemplateNodeInstanceGroup,
      WorkflowTemplateNodeLabel,
    ]),
    RunsModule,
    TemplatesModule,
    WorkflowsModule,
  ],
  controllers: [
    WorkflowJobTemplatesController,
    WorkflowTemplateCopyController,
    WorkflowJobTemplateSurveyController,
    WorkflowJobTemplateWebhookKeyController,
    WorkflowJobTemplateNodesController,
    WorkflowApprovalTemplatesController,
  ],
  providers: [
    WorkflowTemplateExtension,
    ApprovalTemplateExtension,
    WorkflowTemplateNodeExtension,
    WorkflowTemplatesRepository,
    WorkflowTemplateNodesRepository,
    WorkflowTemplateHooks,
    WorkflowTemplateNodeHooks,
    ApprovalTemplateHooks,
    ApprovalTemplates,
    NodeEdges,
  ],
  exports: [WorkflowTemplatesRepository, WorkflowTemplateNodesRepository],
})
export class WorkflowTemplatesModule {}
