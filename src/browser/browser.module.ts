import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { JobTemplatesModule } from '../job-templates/job-templates.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { WorkflowTemplatesModule } from '../workflow-templates/workflow-templates.module.js';
import { ErrorViews } from '../common/rest/errors.filter.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { SearchModule } from '../search/search.module.js';
import { StatisticsModule } from '../statistics/statistics.module.js';
import { AccessListPanel } from './access/access-list.panel.js';
import { HoldingsPanel } from './access/holdings.panel.js';
import { ActivityPanel } from './activity/activity.panel.js';
import { HostsForm } from './bulk/hosts.form.js';
import { InventoryHostsPanel } from './bulk/inventory-hosts.panel.js';
import { CredentialForm } from './credentials/credential.form.js';
import { DashboardController } from './dashboard/dashboard.controller.js';
import { DashboardService } from './dashboard/dashboard.service.js';
import { AuthenticatorForm } from './identity/authenticator.form.js';
import { LinkController } from './identity/link.controller.js';
import { SamlResponseController } from './identity/saml-response.controller.js';
import { LinkedAccountsPanel } from './identity/linked-accounts.panel.js';
import { NewInventoryPanel } from './inventories/new-inventory.panel.js';
import { InventorySourceForm } from './inventory-sources/inventory-source.form.js';
import { InventorySourcesPanel } from './inventory-sources/inventory-sources.panel.js';
import { SourcePanel } from './inventory-sources/source.panel.js';
import { JobTemplateForm } from './job-templates/job-template.form.js';
import { LaunchForm } from './launching/launch.form.js';
import { LaunchPanel } from './launching/launch.panel.js';
import { ApplicationsModule } from '../applications/applications.module.js';
import { ConsentController } from './applications/consent.controller.js';
import { InitialPasswordController } from './login/initial-password.controller.js';
import { LoginController } from './login/login.controller.js';
import { LogoController } from './login/logo.controller.js';
import { SecondFactorPagesController } from './login/second-factor-pages.controller.js';
import { SecondFactorPanel } from './login/second-factor.panel.js';
import { AttachedNotificationsPanel } from './notifications/attached-notifications.panel.js';
import { NotificationTemplateForm } from './notifications/notification-template.form.js';
import { NotificationTemplatePanel } from './notifications/notification-template.panel.js';
import { NewOrganizationPanel } from './organizations/new-organization.panel.js';
import { OrganizationTeamsPanel } from './organizations/organization-teams.panel.js';
import { ProjectForm } from './projects/project.form.js';
import { ProjectPanel } from './projects/project.panel.js';
import { LastRunsPanel } from './runs/last-runs.panel.js';
import { RunPanel } from './runs/run.panel.js';
import { ScheduleForm } from './schedules/schedule.form.js';
import { SchedulesPanel } from './schedules/schedules.panel.js';
import { SearchPageController } from './search/search-page.controller.js';
import { BookmarkedObjects } from './shared/bookmarked-objects.service.js';
import { ErrorPages } from './shared/error-pages.service.js';
import { FormLists } from './shared/form-lists.service.js';
import { Forms } from './shared/forms.service.js';
import { PageForms } from './shared/page-forms.service.js';
import { Panels, PanelSource } from './shared/panels.service.js';
import { PageHeadings } from './shared/page-headings.service.js';
import { PageRenderer } from './shared/page-renderer.service.js';
import { PageSections } from './shared/page-sections.service.js';
import { PageTrail } from './shared/page-trail.service.js';
import { PageInterceptor } from './shared/page.interceptor.js';
import { ReadableLinks } from './shared/readable-links.service.js';
import { WebhookCauses } from './shared/webhook-causes.service.js';
import { UpdateCauses } from './runs/update-causes.service.js';
import { SelectionController } from './selection/selection.controller.js';
import { SelectionService } from './selection/selection.service.js';
import { LoginPages } from './shared/login-pages.service.js';
import { ListActions } from './shared/list-actions.service.js';
import { StatisticsPageController } from './statistics/statistics-page.controller.js';
import { TeamMembersPanel } from './teams/team-members.panel.js';
import { NewTemplatePanel } from './templates/new-template.panel.js';
import { TemplateListsPanel } from './templates/template-lists.panel.js';
import { UsedByPanel } from './templates/used-by.panel.js';
import { TemplateWebhookPanel } from './webhooks/template-webhook.panel.js';
import { DeliveryPanel } from './webhooks/delivery.panel.js';
import { FilterTestForm } from './webhooks/filter-test.form.js';
import { FilterTestPanel } from './webhooks/filter-test.panel.js';
import { WebhookPanel } from './webhooks/webhook.panel.js';
import { WorkflowNodeForm } from './workflow-templates/workflow-node.form.js';
import { WorkflowTemplateForm } from './workflow-templates/workflow-template.form.js';
import { WorkflowTemplatePanel } from './workflow-templates/workflow-template.panel.js';
import { ApprovalPanel } from './workflows/approval.panel.js';
import { WorkflowRunPanel } from './workflows/workflow-run.panel.js';

const shared = [
  BookmarkedObjects,
  FormLists,
  Forms,
  ListActions,
  LoginPages,
  PageForms,
  Panels,
  PageHeadings,
  PageRenderer,
  PageSections,
  PageTrail,
  PageInterceptor,
  PanelSource,
  UpdateCauses,
  ReadableLinks,
  WebhookCauses,
  { provide: ErrorViews, useClass: ErrorPages },
];

/** Panels, in the order in which a page shows them after the panels that are `isFirst`. */
const panels = [
  AccessListPanel,
  HoldingsPanel,
  ActivityPanel,
  NewOrganizationPanel,
  OrganizationTeamsPanel,
  TeamMembersPanel,
  NewInventoryPanel,
  ProjectPanel,
  SourcePanel,
  InventorySourcesPanel,
  NewTemplatePanel,
  RunPanel,
  WorkflowRunPanel,
  ApprovalPanel,
  LaunchPanel,
  WorkflowTemplatePanel,
  TemplateListsPanel,
  LastRunsPanel,
  UsedByPanel,
  SchedulesPanel,
  TemplateWebhookPanel,
  DeliveryPanel,
  WebhookPanel,
  FilterTestPanel,
  NotificationTemplatePanel,
  AttachedNotificationsPanel,
  InventoryHostsPanel,
  LinkedAccountsPanel,
  SecondFactorPanel,
];

const forms = [
  AuthenticatorForm,
  CredentialForm,
  FilterTestForm,
  InventorySourceForm,
  JobTemplateForm,
  LaunchForm,
  ProjectForm,
  ScheduleForm,
  WorkflowNodeForm,
  WorkflowTemplateForm,
  NotificationTemplateForm,
  HostsForm,
];

/** The HTML pages of the API process. No other feature imports this module. */
@Module({
  imports: [
    AccessModule,
    ApplicationsModule,
    AuthModule,
    CredentialsModule,
    IdentityModule,
    JobTemplatesModule,
    NotificationsModule,
    RunsModule,
    SearchModule,
    StatisticsModule,
    WebhooksModule,
    WorkflowsModule,
    WorkflowTemplatesModule,
  ],
  controllers: [
    DashboardController,
    ConsentController,
    InitialPasswordController,
    LoginController,
    LinkController,
    SamlResponseController,
    LogoController,
    SecondFactorPagesController,
    SearchPageController,
    SelectionController,
    StatisticsPageController,
  ],
  providers: [DashboardService, SelectionService, ...shared, ...panels, ...forms],
  exports: [ErrorViews, PageInterceptor],
})
export class BrowserModule {}
