import { reencryptAll } from '../jobs/reencrypt.ts'
import { rotateSigningKeys } from '../keys/key-rotation.ts'
import { defineOperationCommand } from './api/operation-command.ts'
import {
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatTable,
  TENANT_ARG,
} from './command.ts'

const reEncryptCommand = defineDatabaseCommand({
  name: 're-encrypt',
  description: 'Encrypt every stored secret with the first ENCRYPTION_KEY',
  args: {},
  run: async () => {
    const counts = await reencryptAll()
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return { text: `Re-encrypted ${total} secrets.`, json: counts }
  },
})

const rotateCommand = defineDatabaseCommand({
  name: 'rotate',
  description:
    'Replace the signing keys of a tenant; the previous keys stay published while their tokens are valid',
  args: {
    tenant: TENANT_ARG,
    'activate-in': {
      type: 'string',
      description:
        'How many seconds the new keys are published before they sign: 600 by default, 0 for immediately',
    },
    'retire-at-once': {
      type: 'boolean',
      description:
        'For leaked keys: removes the previous keys immediately, which invalidates all tokens that they signed',
    },
  },
  run: async (args) => {
    const activateIn = args['activate-in']
    const keys = await rotateSigningKeys(await createTenantCtx(args.tenant), {
      ...(activateIn !== undefined && {
        activateInSeconds: activateIn === '' ? Number.NaN : Number(activateIn),
      }),
      ...(args['retire-at-once'] && { retireAtOnce: true }),
    })
    const rows = keys.map(({ kid, alg, activeAt, expiresAt }) => [
      kid,
      alg,
      activeAt.toISOString(),
      expiresAt?.toISOString() ?? '-',
    ])
    return { text: formatTable([['KID', 'ALG', 'SIGNS FROM', 'PUBLISHED UNTIL'], ...rows]), json: { keys } }
  },
})

export const keyCommand = defineCommandGroup(
  'key',
  'Encryption keys and signing keys',
  {
    list: defineOperationCommand('getSigningKeys', {
      name: 'list',
      columns: ['kid', 'alg', 'activeAt', 'expiresAt'],
    }),
    're-encrypt': reEncryptCommand,
    rotate: rotateCommand,
  },
  'keys',
)
