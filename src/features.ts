import type { ModuleMetadata } from '@nestjs/common';
import { AccessModule } from './access/access.module.js';
import { ActivityModule } from './activity/activity.module.js';
import { AdHocCommandsModule } from './ad-hoc-commands/ad-hoc-commands.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BulkModule } from './bulk/bulk.module.js';
import { CallbacksModule } from './callbacks/callbacks.module.js';
import { CommonModule } from './common/common.module.js';
import { SettingsModule } from './config/settings.module.js';
import { CredentialsModule } from './credentials/credentials.module.js';
import { DatabaseModule } from './database/database.module.js';
import { EmptyListsModule } from './empty-lists/empty-lists.module.js';
import { entities } from './entities.js';
import { ExecutionEnvironmentsModule } from './execution-environments/execution-environments.module.js';
import { HostMetricsModule } from './host-metrics/host-metrics.module.js';
import { InstancesModule } from './instances/instances.module.js';
import { InventoriesModule } from './inventories/inventories.module.js';
import { InventorySourcesModule } from './inventory-sources/inventory-sources.module.js';
import { JobTemplatesModule } from './job-templates/job-templates.module.js';
import { LabelsModule } from './labels/labels.module.js';
import { LaunchingModule } from './launching/launching.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { ProjectsModule } from './projects/projects.module.js';
import { RootModule } from './api-root/root.module.js';
import { RunsModule } from './runs/runs.module.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { SettingsApiModule } from './settings/settings-api.module.js';
import { TeamsModule } from './teams/teams.module.js';
import { TemplatesModule } from './templates/templates.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { WorkflowTemplatesModule } from './workflow-templates/workflow-templates.module.js';
import { WorkflowsModule } from './workflows/workflows.module.js';

/** Modules that both processes share, lowest layer first. */
export const FEATURES: NonNullable<ModuleMetadata['imports']> = [
  SettingsModule,
  DatabaseModule.forEntities(entities),
  CommonModule,
  AccessModule,
  ActivityModule,
  SettingsApiModule,
  AuthModule,
  OrganizationsModule,
  UsersModule,
  TeamsModule,
  CredentialsModule,
  ExecutionEnvironmentsModule,
  InventoriesModule,
  HostMetricsModule,
  ProjectsModule,
  InventorySourcesModule,
  TemplatesModule,
  JobTemplatesModule,
  RunsModule,
  WorkflowsModule,
  WorkflowTemplatesModule,
  LaunchingModule,
  CallbacksModule,
  AdHocCommandsModule,
  SchedulesModule,
  WebhooksModule,
  NotificationsModule,
  LabelsModule,
  InstancesModule,
  EmptyListsModule,
  BulkModule,
  RootModule,
];
