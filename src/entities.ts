import { roles } from './access/roles.resource.js';
import { activityStream } from './activity/activity.resource.js';
import { adHocCommands } from './ad-hoc-commands/ad-hoc-commands.resource.js';
import { tokens } from './auth/tokens.resource.js';
import { instanceGroups } from './instances/instance-groups.resource.js';
import { instances } from './instances/instances.resource.js';
import { credentialInputSources } from './credentials/credential-input-sources.resource.js';
import { credentialTypes } from './credentials/credential-types.resource.js';
import { credentials } from './credentials/credentials.resource.js';
import './empty-lists/empty-lists.resource.js';
import { executionEnvironments } from './execution-environments/execution-environments.resource.js';
import { hostMetrics, monthlyHostMetrics } from './host-metrics/host-metrics.resource.js';
import { inventories, hosts, groups } from './inventories/inventories.resource.js';
import { constructedInventories } from './inventory-sources/constructed-inventories.resource.js';
import { inventorySources } from './inventory-sources/inventory-sources.resource.js';
import { inventoryUpdates } from './inventory-sources/inventory-updates.resource.js';
import { adHocCommandEvents } from './runs/events/ad-hoc-command-events.resource.js';
import { inventoryUpdateEvents } from './runs/events/inventory-update-events.resource.js';
import { jobEvents, jobHostSummaries } from './runs/events/job-events.resource.js';
import { jobs, unifiedJobs } from './runs/jobs.resource.js';
import { labels } from './labels/labels.resource.js';
import {
  notificationTemplates,
  notifications,
  notificationAttempts,
} from './notifications/notification-templates.resource.js';
import { organizations } from './organizations/organizations.resource.js';
import { projectUpdates } from './projects/project-updates.resource.js';
import { projects } from './projects/projects.resource.js';
import { teams } from './teams/teams.resource.js';
import { jobTemplates } from './job-templates/job-templates.resource.js';
import { unifiedTemplates } from './templates/unified-templates.resource.js';
import { users } from './users/users.resource.js';
import { webhookDeliveries } from './webhooks/webhook-deliveries.resource.js';
import { webhookStatusPosts } from './webhooks/webhook-status-posts.resource.js';
import { approvalTemplates } from './workflow-templates/approval-templates.resource.js';
import { workflowTemplateNodes } from './workflow-templates/workflow-template-nodes.resource.js';
import { workflowTemplates } from './workflow-templates/workflow-templates.resource.js';
import { workflowApprovals } from './workflows/workflow-approvals.resource.js';
import { workflowJobNodes } from './workflows/workflow-job-nodes.resource.js';
import { workflowJobs } from './workflows/workflow-jobs.resource.js';
import { schedules } from './schedules/schedules.resource.js';
import { RoleMember, RoleTeam, RoleParent, RoleAncestor } from './access/role.entity.js';
import { ActivityTotal } from './activity/activity-total.entity.js';
import { Session } from './auth/session.entity.js';
import { Breaker } from './common/outbound/breaker.entity.js';
import { OutboxEntry } from './common/queue/outbox-entry.entity.js';
import { IdempotencyKey } from './common/rest/idempotency-key.entity.js';
import { InstanceGroupInstance } from './instances/instance-group-links.entity.js';
import { WorkerNode } from './instances/worker-node.entity.js';
import { HostFacts, HostProjectFacts } from './inventories/host-facts.entity.js';
import {
  InventorySourceHost,
  InventorySourceGroup,
  InventorySourceVariables,
} from './inventories/import/source-claim.entity.js';
import {
  GroupHost,
  GroupChild,
  InventoryLabel,
  InventoryInstanceGroup,
  InventoryInput,
} from './inventories/inventory-links.entity.js';
import {
  JobTemplateCredential,
  JobTemplateLabel,
  JobTemplateInstanceGroup,
} from './job-templates/job-template-links.entity.js';
import { NotificationTotal } from './notifications/notification.entity.js';
import {
  OrganizationGalaxyCredential,
  OrganizationInstanceGroup,
  OrganizationNotification,
} from './organizations/organization-links.entity.js';
import { JobCredential, JobLabel } from './runs/job-links.entity.js';
import { RunTotal } from './runs/run-total.entity.js';
import {
  ScheduleCredential,
  ScheduleLabel,
  ScheduleInstanceGroup,
} from './schedules/schedule-links.entity.js';
import { ChangedSetting, InstallationFact } from './settings/setting.entity.js';
import { TemplateNotification } from './templates/template-notification.entity.js';
import { UnifiedTemplate } from './templates/unified-template.entity.js';
import { WebhookDeliveryTotal } from './webhooks/webhook-delivery.entity.js';
import {
  WorkflowTemplateLabel,
  WorkflowTemplateNodeCredential,
  WorkflowTemplateNodeLabel,
  WorkflowTemplateNodeInstanceGroup,
  WorkflowTemplateNodeEdge,
} from './workflow-templates/workflow-template-links.entity.js';
import {
  WorkflowJobLabel,
  WorkflowJobNodeCredential,
  WorkflowJobNodeLabel,
  WorkflowJobNodeInstanceGroup,
  WorkflowJobNodeEdge,
} from './workflows/workflow-links.entity.js';

/** Classes of the rows of all tables. A subclass of an entity adds its columns to that table. */
export const entities = [
  roles.entity,
  activityStream.entity,
  adHocCommands.entity,
  tokens.entity,
  instanceGroups.entity,
  instances.entity,
  credentialInputSources.entity,
  credentialTypes.entity,
  credentials.entity,
  executionEnvironments.entity,
  hostMetrics.entity,
  monthlyHostMetrics.entity,
  inventories.entity,
  hosts.entity,
  groups.entity,
  constructedInventories.entity,
  inventorySources.entity,
  inventoryUpdates.entity,
  adHocCommandEvents.entity,
  inventoryUpdateEvents.entity,
  jobEvents.entity,
  jobHostSummaries.entity,
  jobs.entity,
  unifiedJobs.entity,
  labels.entity,
  notificationTemplates.entity,
  notifications.entity,
  notificationAttempts.entity,
  organizations.entity,
  projectUpdates.entity,
  projects.entity,
  teams.entity,
  jobTemplates.entity,
  UnifiedTemplate,
  unifiedTemplates.entity,
  users.entity,
  webhookDeliveries.entity,
  webhookStatusPosts.entity,
  approvalTemplates.entity,
  workflowTemplateNodes.entity,
  workflowTemplates.entity,
  workflowApprovals.entity,
  workflowJobNodes.entity,
  workflowJobs.entity,
  schedules.entity,
  RoleMember,
  RoleTeam,
  RoleParent,
  RoleAncestor,
  ActivityTotal,
  Session,
  Breaker,
  OutboxEntry,
  IdempotencyKey,
  InstanceGroupInstance,
  WorkerNode,
  HostFacts,
  HostProjectFacts,
  InventorySourceHost,
  InventorySourceGroup,
  InventorySourceVariables,
  GroupHost,
  GroupChild,
  InventoryLabel,
  InventoryInstanceGroup,
  InventoryInput,
  JobTemplateCredential,
  JobTemplateLabel,
  JobTemplateInstanceGroup,
  OrganizationGalaxyCredential,
  OrganizationInstanceGroup,
  OrganizationNotification,
  JobCredential,
  JobLabel,
  RunTotal,
  ScheduleCredential,
  ScheduleLabel,
  ScheduleInstanceGroup,
  ChangedSetting,
  InstallationFact,
  TemplateNotification,
  WorkflowTemplateLabel,
  WorkflowTemplateNodeCredential,
  WorkflowTemplateNodeLabel,
  WorkflowTemplateNodeInstanceGroup,
  WorkflowTemplateNodeEdge,
  WorkflowJobLabel,
  WorkflowJobNodeCredential,
  WorkflowJobNodeLabel,
  WorkflowJobNodeInstanceGroup,
  WorkflowJobNodeEdge,
  NotificationTotal,
  WebhookDeliveryTotal,
];
