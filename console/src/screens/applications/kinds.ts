import { t } from '../../words/words.ts'

/** The kind of an application as people know it, and what the API calls it. */
export type Kind = 'web' | 'single-page' | 'native' | 'device' | 'machine'
export type AppType = 'WEB' | 'SINGLE_PAGE' | 'NATIVE' | 'MACHINE'

export const KINDS: Record<Kind, { label: string; hint: string; appType: AppType }> = {
  web: {
    label: t('Web application with a server'),
    hint: t('Next.js, Express, Spring, ASP.NET, Django. The server keeps a secret.'),
    appType: 'WEB',
  },
  'single-page': {
    label: t('Single-page application'),
    hint: t('React, Vue, Angular. It runs in the browser and has no secret.'),
    appType: 'SINGLE_PAGE',
  },
  native: {
    label: t('Native or desktop application'),
    hint: t('It opens the browser for the sign-in and has no secret.'),
    appType: 'NATIVE',
  },
  device: {
    label: t('Device, TV or command line'),
    hint: t('It shows a code that is entered in a browser elsewhere.'),
    appType: 'NATIVE',
  },
  machine: {
    label: t('Machine to machine'),
    hint: t('A backend or a job that acts for itself. Nobody signs in.'),
    appType: 'MACHINE',
  },
}

/** The kinds in a list and in its filter, which does not distinguish devices. */
export const APP_TYPES: Record<AppType, string> = {
  WEB: t('Web'),
  SINGLE_PAGE: t('Single-page'),
  NATIVE: t('Native'),
  MACHINE: t('Machine'),
}

export const isAppType = (text: string | undefined): text is AppType =>
  text !== undefined && text in APP_TYPES

export const describeAppType = (appType: string): string =>
  isAppType(appType) ? APP_TYPES[appType] : appType

const REGISTERED_BY: Record<string, string> = {
  ADMINISTRATOR: t('An administrator'),
  REGISTRATION: t('Itself, with a token'),
  OPEN_REGISTRATION: t('Itself, without a token'),
  DOCUMENT: t('Its metadata document'),
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
