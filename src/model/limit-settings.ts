/** Limits that are settings of a tenant: the default, and the range of the setting. */
export const LIMIT_SETTINGS = {
  networkCodeLimit: { standard: 600, min: 10, max: 100_000 },
  networkFailureLimit: { standard: 100, min: 10, max: 10_000 },
  smsDailyLimit: { standard: 5000, min: 0, max: 10_000_000 },
  smsPrefixLimit: { standard: 30, min: 1, max: 100_000 },
} as const
export type LimitSetting = keyof typeof LIMIT_SETTINGS

export const LIMIT_SETTING_NAMES = Object.keys(LIMIT_SETTINGS) as LimitSetting[]

/** The value of each setting of a tenant that sets none. */
export const STANDARD_LIMITS = Object.fromEntries(
  LIMIT_SETTING_NAMES.map((name) => [name, LIMIT_SETTINGS[name].standard]),
) as Record<LimitSetting, number>
