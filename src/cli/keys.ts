import { rotateSigningKeys } from '../oidc/keys/key-rotation.ts'
import { reencrypt } from '../reencrypt.ts'
import { commandGroup, databaseCommand, TENANT, tenantCtx, toTable } from './command.ts'

const reEncrypt = databaseCommand({
  name: 're-encrypt',
  description: 'Encrypt every stored secret with the first ENCRYPTION_KEY',
  args: {},
  run: async () => {
    const counts = await reencrypt()
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return { text: `Encrypted ${total} secrets anew.`, json: counts }
  },
})

const rotate = databaseCommand({
  name: 'rotate',
  description: 'Replace the keys that a tenant signs tokens with; those before live on while their tokens do',
  args: {
    tenant: TENANT,
    'activate-in': {
      type: 'string',
      description:
        'How many seconds the new ones are published before they sign: 600 unless told, 0 is at once',
    },
    'retire-at-once': {
      type: 'boolean',
      description: 'For keys that leaked: the ones before are gone at once, with all tokens that they signed',
    },
  },
  run: async (args) => {
    const activateIn = args['activate-in']
    const keys = await rotateSigningKeys(await tenantCtx(args.tenant), {
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
    return { text: toTable([['KID', 'ALG', 'SIGNS FROM', 'PUBLISHED UNTIL'], ...rows]), json: { keys } }
  },
})

export const keysCommand = commandGroup('keys', 'Keys of encryption and of signatures', {
  're-encrypt': reEncrypt,
  rotate,
})
