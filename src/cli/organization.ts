import { defineOperationCommand } from './api/operation-command.ts'
import { defineCommandGroup } from './command.ts'

export const organizationCommand = defineCommandGroup('organization', 'Organizations of a tenant', {
  create: defineOperationCommand('createOrganization', { name: 'create' }),
  list: defineOperationCommand('listOrganizations', {
    name: 'list',
    columns: ['id', 'slug', 'name', 'createdAt'],
  }),
  show: defineOperationCommand('getOrganization', { name: 'show' }),
  update: defineOperationCommand('updateOrganization', { name: 'update' }),
  members: defineOperationCommand('listOrganizationMembers', {
    name: 'members',
    columns: ['id', 'userId', 'roles', 'createdAt'],
  }),
  delete: defineOperationCommand('deleteOrganization', {
    name: 'delete',
    confirms: 'The organization and its memberships will be deleted permanently.',
  }),
})
