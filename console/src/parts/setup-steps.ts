import type { LinkProps } from '@tanstack/react-router'
import type { TenantSetupItem } from '../generated/tenantScreenQuery.graphql.ts'
import { t } from '../words/words.ts'

/** What is done of the setup of a tenant, what it is for, and the screen where it is done; null where no screen does. */
export const SETUP_STEPS: Record<
  Exclude<TenantSetupItem, '%future added value'>,
  { label: string; advice: string; to: NonNullable<LinkProps['to']> | null }
> = {
  MAIL_SERVER: {
    label: t('Mail server'),
    advice: t('Mails are in the development inbox. Whoever runs the server sets SMTP_URL.'),
    to: null,
  },
  OWN_MAIL_SERVER: {
    label: t('Mail server of the tenant'),
    advice: t('It does not accept mail: nobody gets codes by e-mail. Test it, and mend it or remove it.'),
    to: '/brand',
  },
  OWN_SMS_GATEWAY: {
    label: t('Gateway for text messages'),
    advice: t(
      'It does not accept messages: nobody gets codes on a phone. Test it, and mend it or remove it.',
    ),
    to: '/brand',
  },
  ADMINISTRATOR: {
    label: t('Administrator'),
    advice: t('Nobody has the role admin, or nobody has accepted the invitation yet.'),
    to: '/invitations',
  },
  APPLICATION: {
    label: t('Application'),
    advice: t('People sign in to nothing yet.'),
    to: '/applications/new',
  },
  LOGO: { label: t('Logo'), advice: t('Pages and mails show the name alone.'), to: '/brand' },
  SUPPORT: {
    label: t('Help page'),
    advice: t('People who cannot sign in find no help.'),
    to: '/settings',
  },
  TERMS: {
    label: t('Terms of use'),
    advice: t('People sign up without agreeing to any.'),
    to: '/sign-in',
  },
  SIGNING_KEY: {
    label: t('Signing key'),
    advice: t('The present one has signed for more than 90 days: the rotation has not run.'),
    to: '/keys',
  },
}
