import { InitialSchema1795255051169 } from './1795255051169-initial-schema.js';
import { RolesAndRules1795255051170 } from './1795255051170-roles-and-rules.js';
import { InventoryCounters1795255051171 } from './1795255051171-inventory-counters.js';
import { DefaultInstanceGroup1795255051172 } from './1795255051172-default-instance-group.js';
import { AddWorkflowTemplates1795289615541 } from './1795289615541-add-workflow-templates.js';
import { CoalesceWebhooks1795290691108 } from './1795290691108-coalesce-webhooks.js';
import { RunWorkflowGraphs1795290754718 } from './1795290754718-run-workflow-graphs.js';
import { PreferredInstanceGroups1795290755452 } from './1795290755452-preferred-instance-groups.js';
import { ParentsOfActivity1795290755453 } from './1795290755453-parents-of-activity.js';
import { AddSchedules1795291639174 } from './1795291639174-add-schedules.js';
import { MarkSlicedJobs1795292000000 } from './1795292000000-mark-sliced-jobs.js';
import { MakeReferencesDeferrable1795328500000 } from './1795328500000-make-references-deferrable.js';
import { TellFailedAttempts1795328845180 } from './1795328845180-tell-failed-attempts.js';
import { KeepSecretStatistics1795329064974 } from './1795329064974-keep-secret-statistics.js';
import { AddInstances1795330527771 } from './1795330527771-add-instances.js';
import { AllowConnectionVars1795340256468 } from './1795340256468-allow-connection-vars.js';
import { TellIsolation1795342000000 } from './1795342000000-tell-isolation.js';
import { WebhookForks1795343547256 } from './1795343547256-webhook-forks.js';
import { IndexWhatListsOffer1795350000000 } from './1795350000000-index-what-lists-offer.js';
import { AddInventorySources1795400000000 } from './1795400000000-add-inventory-sources.js';
import { AddAdHocCommands1795410000000 } from './1795410000000-add-ad-hoc-commands.js';
import { KeepHostFacts1795420000000 } from './1795420000000-keep-host-facts.js';
import { AddInventoryInputs1795440000000 } from './1795440000000-add-inventory-inputs.js';
import { TieSummariesToConstructedHosts1795450000000 } from './1795450000000-tie-summaries-to-constructed-hosts.js';
import { AddHostMetrics1795460000000 } from './1795460000000-add-host-metrics.js';
import { AddCredentialInputSources1795470000000 } from './1795470000000-add-credential-input-sources.js';
import { KeepExecutionEnvironments1795480000000 } from './1795480000000-keep-execution-environments.js';
import { RemoveSourcesWithInventories1795490000000 } from './1795490000000-remove-sources-with-inventories.js';
import { CountRuns1795491000000 } from './1795491000000-count-runs.js';
import { NameEnvironmentsOfSources1795492000000 } from './1795492000000-name-environments-of-sources.js';
import { CountEvents1795500000000 } from './1795500000000-count-events.js';
import { CountHistories1795510000000 } from './1795510000000-count-histories.js';
import { IndexReferences1795512000000 } from './1795512000000-index-references.js';
import { IndexHistories1795513000000 } from './1795513000000-index-histories.js';
import { WidenIds1795530000000 } from './1795530000000-widen-ids.js';
import { PartitionEvents1795540000000 } from './1795540000000-partition-events.js';
import { IndexTimes1795550000000 } from './1795550000000-index-times.js';
import { KeepFactsOfProjects1795560000000 } from './1795560000000-keep-facts-of-projects.js';
import { NoteReadingOfResults1795570000000 } from './1795570000000-note-reading-of-results.js';
import { KeepFactsAsTheyAre1795580000000 } from './1795580000000-keep-facts-as-they-are.js';
import { PlaceRunsByGroups1795590000000 } from './1795590000000-place-runs-by-groups.js';
import { AddSystemJobs1795600000000 } from './1795600000000-add-system-jobs.js';
import { ScheduleSystemJobs1795610000000 } from './1795610000000-schedule-system-jobs.js';
import { AddRetention1795620000000 } from './1795620000000-add-retention.js';
import { RunInEnvironments1795630000000 } from './1795630000000-run-in-environments.js';
import { MeasureInstances1795640000000 } from './1795640000000-measure-instances.js';
import { AddAuthenticators1795650000000 } from './1795650000000-add-authenticators.js';
import { ReportAnsible1795655000000 } from './1795655000000-report-ansible.js';
import { LinkExternalIdentities1795786029882 } from './1795786029882-link-external-identities.js';
import { AddApplications1795792802184 } from './1795792802184-add-applications.js';
import { AddSecondFactors1795797219861 } from './1795797219861-add-second-factors.js';
import { AddSignatureChecks1795797750727 } from './1795797750727-add-signature-checks.js';
import { AddPasskeys1795798849123 } from './1795798849123-add-passkeys.js';
import { AddSamlResponses1795799682556 } from './1795799682556-add-saml-responses.js';
import { IndexStepsOfJobs1795801206800 } from './1795801206800-index-steps-of-jobs.js';
import { IndexPendingRuns1795808955127 } from './1795808955127-index-pending-runs.js';
import { AddSigningKeys1795809000000 } from './1795809000000-add-signing-keys.js';
import { AddSendersOfDeliveries1795809662296 } from './1795809662296-add-senders-of-deliveries.js';
import { ForwardActivity1795811000000 } from './1795811000000-forward-activity.js';
import { DisableUsers1795812000000 } from './1795812000000-disable-users.js';
import { SearchRunsByPlaybook1795920000000 } from './1795920000000-search-runs-by-playbook.js';
import { EndCodesWithSessions1795921000000 } from './1795921000000-end-codes-with-sessions.js';
import { RemoveUnusedLabels1795922000000 } from './1795922000000-remove-unused-labels.js';
import { MoveSourcesWithInventories1795923000000 } from './1795923000000-move-sources-with-inventories.js';
import { RemoveEphemeralInstances1795924000000 } from './1795924000000-remove-ephemeral-instances.js';
import { LockRoleGraphForRoles1795925000000 } from './1795925000000-lock-role-graph-for-roles.js';
import { KeepDeletedInventories1795926000000 } from './1795926000000-keep-deleted-inventories.js';
import { ReplaceEmptyJobTypes1795927000000 } from './1795927000000-replace-empty-job-types.js';
import { ImplyReadersByInventories1795928500000 } from './1795928500000-imply-readers-by-inventories.js';

/** All migrations, oldest first. Named imports, so that compiled code and tests load the same. */
export const migrations = {
  InitialSchema1795255051169,
  RolesAndRules1795255051170,
  InventoryCounters1795255051171,
  DefaultInstanceGroup1795255051172,
  AddWorkflowTemplates1795289615541,
  CoalesceWebhooks1795290691108,
  RunWorkflowGraphs1795290754718,
  PreferredInstanceGroups1795290755452,
  ParentsOfActivity1795290755453,
  AddSchedules1795291639174,
  MarkSlicedJobs1795292000000,
  MakeReferencesDeferrable1795328500000,
  TellFailedAttempts1795328845180,
  KeepSecretStatistics1795329064974,
  AddInstances1795330527771,
  AllowConnectionVars1795340256468,
  TellIsolation1795342000000,
  WebhookForks1795343547256,
  IndexWhatListsOffer1795350000000,
  AddInventorySources1795400000000,
  AddAdHocCommands1795410000000,
  KeepHostFacts1795420000000,
  AddInventoryInputs1795440000000,
  TieSummariesToConstructedHosts1795450000000,
  AddHostMetrics1795460000000,
  AddCredentialInputSources1795470000000,
  KeepExecutionEnvironments1795480000000,
  RemoveSourcesWithInventories1795490000000,
  CountRuns1795491000000,
  NameEnvironmentsOfSources1795492000000,
  CountEvents1795500000000,
  CountHistories1795510000000,
  IndexReferences1795512000000,
  IndexHistories1795513000000,
  WidenIds1795530000000,
  PartitionEvents1795540000000,
  IndexTimes1795550000000,
  KeepFactsOfProjects1795560000000,
  NoteReadingOfResults1795570000000,
  KeepFactsAsTheyAre1795580000000,
  PlaceRunsByGroups1795590000000,
  AddSystemJobs1795600000000,
  ScheduleSystemJobs1795610000000,
  AddRetention1795620000000,
  RunInEnvironments1795630000000,
  MeasureInstances1795640000000,
  AddAuthenticators1795650000000,
  ReportAnsible1795655000000,
  LinkExternalIdentities1795786029882,
  AddApplications1795792802184,
  AddSecondFactors1795797219861,
  AddSignatureChecks1795797750727,
  AddPasskeys1795798849123,
  AddSamlResponses1795799682556,
  IndexStepsOfJobs1795801206800,
  IndexPendingRuns1795808955127,
  AddSigningKeys1795809000000,
  AddSendersOfDeliveries1795809662296,
  ForwardActivity1795811000000,
  DisableUsers1795812000000,
  SearchRunsByPlaybook1795920000000,
  EndCodesWithSessions1795921000000,
  RemoveUnusedLabels1795922000000,
  MoveSourcesWithInventories1795923000000,
  RemoveEphemeralInstances1795924000000,
  LockRoleGraphForRoles1795925000000,
  KeepDeletedInventories1795926000000,
  ReplaceEmptyJobTypes1795927000000,
  ImplyReadersByInventories1795928500000,
};
