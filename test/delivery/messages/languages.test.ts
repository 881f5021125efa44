import { describe, expect, test } from 'vitest'
import { renderMail } from '../../../src/delivery/mail.pages.tsx'
import { buildAddressMessage } from '../../../src/delivery/messages/address-code.ts'
import { buildEnrollmentSms } from '../../../src/delivery/messages/enrollment-link.ts'
import { buildPasscodeMail, buildPasscodeSms } from '../../../src/delivery/messages/passcode.ts'
import { buildRecoveryNotice } from '../../../src/delivery/messages/recovery-link.ts'
import { buildGuessNotice } from '../../../src/delivery/messages/wrong-codes.ts'
import { isOneSegment } from '../../../src/delivery/sms-segment.ts'
import { LANGUAGES } from '../../../src/languages/catalogs.ts'
import { getWords } from '../../../src/languages/translations.ts'
import {
  mailsWith,
  messageTenant,
  sentCode,
  requestingSignIn as signIn,
  source,
} from '../../support/mails.ts'

const code = '12345 67890'
const english = mailsWith('Acme', messageTenant)

describe.each(LANGUAGES)('messages in %s', (language) => {
  const words = getWords(language)
  const given = { ...sentCode, tenant: messageTenant, words, signIn, source }
  const mails = mailsWith('Acme', messageTenant, words)

  test('name their language and its direction', () => {
    for (const mail of Object.values(mails)) {
      const html = renderMail(mail)
      expect(html).toContain(`<html lang="${language}" dir="${words.direction}">`)
      expect(html).toMatch(new RegExp(`<table[^>]* lang="${language}" dir="${words.direction}"`))
    }
  })

  test('have no space between Chinese or Japanese sentences', () => {
    const uri = 'https://id.example.com/acme/enroll/cancel?token=x'
    const texts = [
      ...Object.values(mails).map(({ text, preheader }) => text + preheader),
      buildPasscodeSms({ ...given, code: '012345', signIn: { ...signIn, clientName: 'A' } }),
      buildGuessNotice(given, source).sms,
      buildRecoveryNotice(given, { uri, usableAt: source.requestedAt }).sms,
    ]
    for (const text of texts) expect(text).not.toMatch(/[。！？] /)
  })

  test('have no sentence of another language', () => {
    if (language === 'en') return
    for (const [name, { subject, preheader, heading, parts, footer }] of Object.entries(mails)) {
      const texts = (mail: (typeof english)[string] | undefined) => [
        mail?.subject,
        mail?.preheader,
        mail?.heading,
        ...(mail?.parts ?? []).map((part) => ('text' in part ? part.text : part.facts[0]?.[0])),
        ...(mail?.footer ?? []).map(({ text }) => text),
      ]
      const same = new Set(texts(english[name]))
      const own = texts({ subject, preheader, heading, parts, footer } as (typeof english)[string])
      // "Application" is French, too, and a code is the same everywhere.
      expect(
        own.filter((text) => same.has(text) && !/^[\d ]+$|^Application$|^Browser$/.test(text ?? '')),
      ).toEqual([])
    }
  })

  test('with a code are one segment as text messages, whatever the names and the host', () => {
    for (const name of [
      'Acme',
      '株式会社アクメ',
      'Société Générale de l’Étoile',
      'חברת אקמי',
      'x'.repeat(60),
    ])
      for (const host of ['id.example.com', `login.${'a'.repeat(30)}.example`]) {
        const tenant = { ...messageTenant, name }
        const sms = buildPasscodeSms({
          ...given,
          tenant,
          code,
          signIn: { ...signIn, clientName: name, host },
        })
        expect(isOneSegment(sms), sms).toBe(true)
        expect(sms.startsWith(code)).toBe(true)
        expect(sms.split('\n').at(-1)).toBe(`@${host} #1234567890`)
        for (const other of [
          buildPasscodeSms({ ...given, tenant, code, signIn: null }),
          buildAddressMessage({ ...given, tenant, code }).sms,
        ]) {
          expect(isOneSegment(other), other).toBe(true)
          expect(other.startsWith(code)).toBe(true)
        }
      }
  })

  test('with a link are one segment as text messages', () => {
    const uri = `https://id.example.com/acme/enroll?token=${'x'.repeat(43)}`
    const sms = buildEnrollmentSms({
      ...given,
      tenant: { ...messageTenant, name: 'Acme' },
      uri,
      lifetimeHours: 24,
    })
    expect(sms).toContain(uri)
    expect(isOneSegment(sms), sms).toBe(true)
  })
})

describe('a message', () => {
  const inLanguage = (language: string) =>
    buildPasscodeMail({ ...sentCode, tenant: messageTenant, words: getWords(language), signIn }).text

  test('has place, browser and time as its language writes them', () => {
    expect(inLanguage('de')).toContain(
      'Browser: Chrome auf Linux\nOrt (ungefähr): Zürich, Schweiz\nZeit: 23. November 2026 um 06:58 UTC',
    )
    expect(inLanguage('pt')).toContain('Zurique, Suíça')
    expect(inLanguage('ja')).toContain('スイス Zurich')
  })

  test('has its values in the order of a language from right to left, and breaks no words', () => {
    const html = renderMail(mailsWith('Acme', messageTenant, getWords('he'))['sign-in'] as never)
    expect(html).toContain('<bdi dir="rtl">Chrome ב־Linux</bdi>')
    expect(html).not.toContain('word-break')
    expect(renderMail(english['sign-in'] as never)).toContain('<bdi>Chrome on Linux</bdi>')
  })

  test('keeps names of the other direction apart in a language from right to left', () => {
    expect(inLanguage('ar')).toContain('\u2068Portal\u2069')
    expect(inLanguage('de')).not.toContain('\u2068')
  })
})
