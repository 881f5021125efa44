import { toSettings, updateSettings } from '../tenants/settings.ts'
import { createTenantCtx, defineDatabaseCommand, formatMembers, readSlug, SLUG_ARGS } from './command.ts'
import { buildSetArg } from './set-option.ts'

export const settingsCommand = defineDatabaseCommand({
  name: 'settings',
  description: 'Show the settings of a tenant, or change some of them',
  args: { ...SLUG_ARGS, ...buildSetArg('settings') },
  run: async (args, members) => {
    const ctx = await createTenantCtx(readSlug(args))
    const settings = toSettings(await updateSettings(ctx, members))
    return { text: formatMembers(settings, 'SETTING'), json: settings }
  },
})
