import { listSignInLimits, resetSignInLimits } from '../passcodes/sign-in-limits.ts'
import { getUserByEmail } from '../users/users.ts'
import {
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatTable,
  TENANT_ARG,
} from './command.ts'

const ARGS = {
  email: { type: 'positional', required: true, description: 'E-mail address of the user' },
  tenant: TENANT_ARG,
} as const

const showCommand = defineDatabaseCommand({
  name: 'show',
  description: 'Show wrong guesses at codes and sent codes of a user',
  args: ARGS,
  run: async ({ email, tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const limits = await listSignInLimits(ctx, (await getUserByEmail(ctx, email)).id)
    const rows = limits.map(({ channel, wrongGuesses, longCodesUntil, sentCodes, codesAgainAt }) => [
      channel,
      String(wrongGuesses),
      longCodesUntil?.toISOString() ?? '-',
      String(sentCodes),
      codesAgainAt?.toISOString() ?? '-',
    ])
    const head = ['CHANNEL', 'WRONG GUESSES', 'LONG CODES UNTIL', 'SENT CODES', 'CODES AGAIN AT']
    return { text: formatTable([head, ...rows]), json: limits }
  },
})

const resetCommand = defineDatabaseCommand({
  name: 'reset',
  description: 'Reset the limits of codes of a user',
  args: ARGS,
  run: async ({ email, tenant }) => {
    const ctx = await createTenantCtx(tenant)
    const { userId } = await resetSignInLimits(ctx, (await getUserByEmail(ctx, email)).id)
    return { text: `The limits of ${email} (${userId}) were reset.`, json: { userId } }
  },
})

export const limitCommand = defineCommandGroup(
  'limit',
  'Limits of codes and guesses',
  { show: showCommand, reset: resetCommand },
  'limits',
)
