/** Whether a browser keeps the sign-in when it is closed: never (off), if the user says so (ask), or always. */
export const STAY_SIGNED_IN_MODES = ['off', 'ask', 'always'] as const
export type StaySignedInMode = (typeof STAY_SIGNED_IN_MODES)[number]

/** How long sessions of browsers last: without use (idle), and after the last sign-in (lifetime). */
export const SESSION_SECONDS = { min: 300, max: 31_536_000, idle: 43_200, lifetime: 2_592_000 } as const
