import { Global, Module } from '@nestjs/common';
import { AccessModule } from './access/access.module.js';
import { RoleGraph } from './access/role-graph.service.js';
import { TeamStore } from './access/team-store.js';
import { ExternalFlagStore, UserStore } from './access/user-store.js';
import { ActivityModule } from './activity/activity.module.js';
import { ActivityService } from './activity/activity.service.js';
import { AdHocCommandsModule } from './ad-hoc-commands/ad-hoc-commands.module.js';
import { RootModule } from './api-root/root.module.js';
import { AuthRequestGuards } from './auth/auth-request-guards.service.js';
import { AuthModule } from './auth/auth.module.js';
import { ExternalPasswords } from './auth/external-passwords.js';
import { SessionsRepository } from './auth/sessions.repository.js';
import { TokensRepository } from './auth/tokens.repository.js';
import { BulkModule } from './bulk/bulk.module.js';
import { CallbacksModule } from './callbacks/callbacks.module.js';
import { RoleStore } from './common/access.js';
import { ActivityRecorder } from './common/activity/activity.js';
import { CommonModule } from './common/common.module.js';
import { ActiveRunsQuery } from './common/resource/dependents.js';
import { RequestGuards } from './common/rest/body.interceptor.js';
import { SettingsModule } from './config/settings.module.js';
import { IdentityTokens } from './credentials/identity-tokens.js';
import { CredentialsModule } from './credentials/credentials.module.js';
import { DatabaseModule } from './database/database.module.js';
import { ApplicationsModule } from './applications/applications.module.js';
import { ResolvedEnvironments } from './templates/template-summaries.service.js';
import { ExecutionEnvironmentsModule } from './execution-environments/execution-environments.module.js';
import { HostMetricsModule } from './host-metrics/host-metrics.module.js';
import { DirectoryPasswords } from './identity/directory-passwords.service.js';
import { LocalAuthRule } from './identity/local-auth-rule.service.js';
import { ExternalIdentitiesRepository } from './identity/external-identities.repository.js';
import { IdentityModule } from './identity/identity.module.js';
import { InstancesModule } from './instances/instances.module.js';
import { RunLoads } from './instances/run-loads.js';
import { InventoriesModule } from './inventories/inventories.module.js';
import { ConstructedSources, HostRuns, InventoryTemplates } from './inventories/inventory-uses.js';
import { OrganizationStore } from './inventories/organization-store.js';
import { HiddenSources } from './inventory-sources/hidden-sources.service.js';
import { InventorySourcesModule } from './inventory-sources/inventory-sources.module.js';
import { JobTemplatesModule } from './job-templates/job-templates.module.js';
import { LabelsModule } from './labels/labels.module.js';
import { RunEnvironments } from './launching/run-environments.listener.js';
import { LaunchTargets } from './launching/launch-targets.service.js';
import { LaunchingModule } from './launching/launching.module.js';
import { OrganizationNotifications } from './notifications/organization-notifications.js';
import { LoggingModule } from './logging/logging.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { WorkflowNodes } from './notifications/workflow-nodes.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { OrganizationsRepository } from './organizations/organizations.repository.js';
import { ProjectsModule } from './projects/projects.module.js';
import { SavedLaunchTargets } from './prompts/saved-launch-targets.js';
import { CleanupTasks } from './retention/cleanup-tasks.service.js';
import { RetentionModule } from './retention/retention.module.js';
import { RunDeliveries, RunSchedules, RunWorkflows } from './runs/run-causes.js';
import { RunOverviewsRepository } from './runs/run-overviews.repository.js';
import { RunIdentityModule } from './run-identity/run-identity.module.js';
import { RunTokens } from './run-identity/run-tokens.service.js';
import { RunsModule } from './runs/runs.module.js';
import { RunsRepository } from './runs/runs.repository.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { SchedulesRepository } from './schedules/schedules.repository.js';
import { Cleanups } from './system-jobs/cleanups.js';
import { SystemJobsModule } from './system-jobs/system-jobs.module.js';
import { SettingRules } from './settings/setting-rules.js';
import { SettingsApiModule } from './settings/settings-api.module.js';
import { TeamsModule } from './teams/teams.module.js';
import { TeamsRepository } from './teams/teams.repository.js';
import { TemplateRuns } from './templates/template-runs.js';
import { TemplatesModule } from './templates/templates.module.js';
import { TemplatesRepository } from './templates/templates.repository.js';
import { SessionStore, TokenStore } from './users/login-stores.js';
import { UsersModule } from './users/users.module.js';
import { UsersRepository } from './users/users.repository.js';
import { WebhookDeliveriesRepository } from './webhooks/webhook-deliveries.repository.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { WorkflowTemplatesModule } from './workflow-templates/workflow-templates.module.js';
import { WorkflowJobNodesRepository } from './workflows/workflow-job-nodes.repository.js';
import { WorkflowsModule } from './workflows/workflows.module.js';

/**
 * Abstract classes that a feature declares, with the classes of later features that implement them
 * (docs/decisions/0051-repositories.md).
 */
const ports = [
  { provide: RoleStore, useExisting: RoleGraph },
  { provide: ActivityRecorder, useExisting: ActivityService },
  { provide: RequestGuards, useExisting: AuthRequestGuards },
  { provide: TeamStore, useExisting: TeamsRepository },
  { provide: UserStore, useExisting: UsersRepository },
  { provide: ExternalFlagStore, useExisting: ExternalIdentitiesRepository },
  { provide: SessionStore, useExisting: SessionsRepository },
  { provide: TokenStore, useExisting: TokensRepository },
  { provide: SettingRules, useExisting: LocalAuthRule },
  { provide: ExternalPasswords, useExisting: DirectoryPasswords },
  { provide: RunLoads, useExisting: RunOverviewsRepository },
  { provide: ActiveRunsQuery, useExisting: RunOverviewsRepository },
  { provide: HostRuns, useExisting: RunOverviewsRepository },
  { provide: InventoryTemplates, useExisting: TemplatesRepository },
  { provide: ConstructedSources, useExisting: HiddenSources },
  { provide: OrganizationStore, useExisting: OrganizationsRepository },
  { provide: OrganizationNotifications, useExisting: OrganizationsRepository },
  { provide: SavedLaunchTargets, useExisting: LaunchTargets },
  { provide: ResolvedEnvironments, useExisting: RunEnvironments },
  { provide: TemplateRuns, useExisting: RunsRepository },
  { provide: RunWorkflows, useExisting: WorkflowJobNodesRepository },
  { provide: WorkflowNodes, useExisting: WorkflowJobNodesRepository },
  { provide: RunSchedules, useExisting: SchedulesRepository },
  { provide: RunDeliveries, useExisting: WebhookDeliveriesRepository },
  { provide: IdentityTokens, useExisting: RunTokens },
  { provide: Cleanups, useExisting: CleanupTasks },
];

/**
 * The features that all processes share, lowest layer first. Global for the ports alone: a feature cannot
 * import the later feature that implements its port.
 */
@Global()
@Module({
  imports: [
    SettingsModule,
    DatabaseModule,
    CommonModule,
    AccessModule,
    ActivityModule,
    SettingsApiModule,
    LoggingModule,
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
    RunIdentityModule,
    WorkflowsModule,
    WorkflowTemplatesModule,
    SystemJobsModule,
    LaunchingModule,
    CallbacksModule,
    AdHocCommandsModule,
    SchedulesModule,
    WebhooksModule,
    NotificationsModule,
    LabelsModule,
    InstancesModule,
    RetentionModule,
    ApplicationsModule,
    BulkModule,
    IdentityModule,
    RootModule,
  ],
  providers: ports,
  exports: ports,
})
export class FeaturesModule {}
