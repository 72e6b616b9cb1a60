import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessList } from './access-list.service.js';
import { GrantsService } from './grants.service.js';
import { RoleAncestorsRepository } from './role-ancestors.repository.js';
import { RoleGraph } from './role-graph.service.js';
import { RoleMembersRepository } from './role-members.repository.js';
import { RoleParentsRepository } from './role-parents.repository.js';
import { RoleTeamsRepository } from './role-teams.repository.js';
import { RolesController } from './roles.controller.js';
import { RolesRepository } from './roles.repository.js';
import { Role, RoleAncestor, RoleMember, RoleParent, RoleTeam } from './role.entity.js';

const repositories = [
  RolesRepository,
  RoleMembersRepository,
  RoleTeamsRepository,
  RoleParentsRepository,
  RoleAncestorsRepository,
];

@Module({
  imports: [TypeOrmModule.forFeature([Role, RoleAncestor, RoleMember, RoleParent, RoleTeam])],
  controllers: [RolesController],
  providers: [...repositories, RoleGraph, GrantsService, AccessList],
  exports: [...repositories, RoleGraph, GrantsService],
})
export class AccessModule {}
