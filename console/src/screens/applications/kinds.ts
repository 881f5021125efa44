/** The kind of an application as people know it, and what the API calls it. */
export type Kind = 'web' | 'single-page' | 'native' | 'device' | 'machine'
export type AppType = 'WEB' | 'SINGLE_PAGE' | 'NATIVE' | 'MACHINE'

export const KINDS: Record<Kind, { label: string; hint: string; appType: AppType }> = {
  web: {
    label: 'Web application with a server',
    hint: 'Next.js, Express, Spring, ASP.NET, Django. The server keeps a secret.',
    appType: 'WEB',
  },
  'single-page': {
    label: 'Single-page application',
    hint: 'React, Vue, Angular. It runs in the browser and has no secret.',
    appType: 'SINGLE_PAGE',
  },
  native: {
    label: 'Native or desktop application',
    hint: 'It opens the browser for the sign-in and has no secret.',
    appType: 'NATIVE',
  },
  device: {
    label: 'Device, TV or command line',
    hint: 'It shows a code that is entered in a browser elsewhere.',
    appType: 'NATIVE',
  },
  machine: {
    label: 'Machine to machine',
    hint: 'A backend or a job that acts for itself. Nobody signs in.',
    appType: 'MACHINE',
  },
}

/** The kinds in a list and in its filter, which does not distinguish devices. */
export const APP_TYPES: Record<AppType, string> = {
  WEB: 'Web',
  SINGLE_PAGE: 'Single-page',
  NATIVE: 'Native',
  MACHINE: 'Machine',
}

export const isAppType = (text: string | undefined): text is AppType =>
  text !== undefined && text in APP_TYPES

export const describeAppType = (appType: string): string =>
  isAppType(appType) ? APP_TYPES[appType] : appType

const REGISTERED_BY: Record<string, string> = {
  ADMINISTRATOR: 'An administrator',
  REGISTRATION: 'Itself, with a token',
  OPEN_REGISTRATION: 'Itself, without a token',
  DOCUMENT: 'Its metadata document',
}

export const describeRegistration = (by: string): string => REGISTERED_BY[by] ?? by

/** Whether an application of this type can keep a secret. */
export const hasSecret = (appType: string): boolean => appType === 'WEB' || appType === 'MACHINE'

/** The id of a client in a path: it may be a URL, and the server accepts no percent signs in paths. */
export const toPathId = (id: string): string =>
  encodeURIComponent(id).replaceAll('~', '%7E').replaceAll('%', '~')

export function fromPathId(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('~', '%'))
  } catch {
    return text
  }
}
