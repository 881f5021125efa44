import type { Ctx } from '../context/context.ts'
import type { User } from '../generated/prisma/client.ts'
import { toUserBody } from '../users/user-body.ts'
import { createUser, getUser, getUserByEmail, updateUser } from '../users/users.ts'
import { defineOperationCommand } from './api/operation-command.ts'
import { defineCommandGroup, defineDatabaseCommand, formatMembers, TENANT_ARG } from './command.ts'
import { buildSetArg } from './set-option.ts'
import { createUsersCtx, exportCommand, importCommand } from './user-files.ts'

const USER_ARG = {
  user: { type: 'positional', required: true, description: 'Id or e-mail address of the user' },
} as const

/** Throws NotFound. */
const findUser = (ctx: Ctx, idOrEmail: string): Promise<User> =>
  idOrEmail.includes('@') ? getUserByEmail(ctx, idOrEmail) : getUser(ctx, idOrEmail)

const toResult = (ctx: Ctx, user: User) => {
  const json = toUserBody(ctx, user)
  return { text: formatMembers(json), json }
}

const createCommand = defineDatabaseCommand({
  name: 'create',
  description: 'Create a user',
  args: {
    email: { type: 'positional', required: true, description: 'E-mail address' },
    tenant: TENANT_ARG,
    ...buildSetArg('user'),
  },
  run: async ({ email, tenant }, members) => {
    const ctx = await createUsersCtx(tenant)
    return toResult(ctx, await createUser(ctx, { ...members, email }))
  },
})

const showCommand = defineDatabaseCommand({
  name: 'show',
  description: 'Show a user',
  args: { ...USER_ARG, tenant: TENANT_ARG },
  run: async ({ user, tenant }) => {
    const ctx = await createUsersCtx(tenant)
    return toResult(ctx, await findUser(ctx, user))
  },
})

const updateCommand = defineDatabaseCommand({
  name: 'update',
  description: 'Change a user',
  args: { ...USER_ARG, tenant: TENANT_ARG, ...buildSetArg('user') },
  run: async ({ user, tenant }, members) => {
    const ctx = await createUsersCtx(tenant)
    const { id } = await findUser(ctx, user)
    return toResult(ctx, await updateUser(ctx, id, members))
  },
})

export const userCommand = defineCommandGroup(
  'user',
  'Users of a tenant',
  {
    create: createCommand,
    show: showCommand,
    update: updateCommand,
    list: defineOperationCommand('listUsers', {
      name: 'list',
      columns: ['id', 'email', 'name', 'lastSeenAt', 'createdAt'],
    }),
    sessions: defineOperationCommand('listUserSessions', {
      name: 'sessions',
      columns: ['id', 'clientId', 'lastSeenAt', 'lastSeenIp'],
    }),
    delete: defineOperationCommand('deleteUser', {
      name: 'delete',
      confirms: 'The user will be deleted permanently.',
    }),
    import: importCommand,
    export: exportCommand,
  },
  'users',
)
