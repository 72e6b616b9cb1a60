import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { InjectRepository, TableRepository, type Repository } from '../database/repository.js';
import { AuthenticatorMap } from './authenticator.entity.js';

@Injectable()
export class AuthenticatorMapsRepository extends TableRepository<RowOf<AuthenticatorMap>> {
  constructor(@InjectRepository(AuthenticatorMap) repository: Repository<AuthenticatorMap>) {
    super(repository);
  }
}
