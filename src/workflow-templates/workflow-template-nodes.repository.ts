import { ident, sql, type Sql } from '../database/sql.js';

/** Whether a row of credentials is attached to a node of a workflow job template. */
export const isCredentialOfNode = (template: Sql, credential: string): Sql => sql`
  ${ident(credential, 'id')} IN (
    SELECT lnk.credential_id FROM workflow_template_node_credentials lnk
    JOIN workflow_job_template_nodes node ON node.id = lnk.node_id
    WHERE node.workflow_job_template_id = ${template})`;
