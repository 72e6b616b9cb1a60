import { Global, Module } from '@nestjs/common';
import { TemplatesModule } from '../templates/templates.module.js';
import { NestedLaunches } from '../launching/nested-launches.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { ApprovalTemplateHooks } from './approval-template.hooks.js';
import { ApprovalTemplatesController } from './approval-templates.controller.js';
import { ApprovalTemplates } from './approval-templates.service.js';
import { NestedWorkflowLaunches } from '../launching/nested-workflow-launches.js';
import { Nesting } from './nesting.js';
import { NodeTemplateLoader } from '../launching/node-template-loader.js';
import { WorkflowTemplatePanel } from './pages/workflow-template.panel.js';
import { WorkflowLaunchController } from '../launching/workflow-launch.controller.js';
import { WorkflowLaunchLoader } from '../launching/workflow-launch-loader.js';
import { WorkflowLaunchService } from '../launching/workflow-launch.service.js';
import { WorkflowTemplateHooks } from './workflow-template.hooks.js';
import { WorkflowTemplateNodeHooks } from './workflow-template-node.hooks.js';
import { WorkflowTemplateNodesController } from './workflow-template-nodes.controller.js';
import { WorkflowTemplatesController } from './workflow-templates.controller.js';

@Global()
@Module({
  imports: [TemplatesModule, WorkflowsModule],
  controllers: [
    WorkflowTemplatesController,
    WorkflowLaunchController,
    WorkflowTemplateNodesController,
    ApprovalTemplatesController,
  ],
  providers: [
    WorkflowTemplateHooks,
    WorkflowTemplateNodeHooks,
    ApprovalTemplateHooks,
    ApprovalTemplates,
    NodeTemplateLoader,
    Nesting,
    WorkflowLaunchLoader,
    WorkflowLaunchService,
    WorkflowTemplatePanel,
    { provide: NestedLaunches, useClass: NestedWorkflowLaunches },
  ],
  exports: [NestedLaunches, NodeTemplateLoader, WorkflowLaunchLoader, WorkflowLaunchService],
})
export class WorkflowTemplatesModule {}
