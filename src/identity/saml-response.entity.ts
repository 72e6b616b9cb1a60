import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Accepted response to a request of SAML, so that it is not accepted again. */
@Entity('saml_responses')
export class SamlResponse {
  /** Id of the request. */
  @PrimaryColumn('text')
  request!: string;

  @Column('timestamp with time zone')
  @Index()
  expires!: string;
}
