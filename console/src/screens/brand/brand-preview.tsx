import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { deployment } from '../../config.ts'
import { PAGE_LANGUAGES } from '../../parts/languages.ts'
import { type Settings, useSettings } from '../../parts/settings-form.tsx'
import { t } from '../../words/words.ts'

const route = getRouteApi('/brand')

/** The samples of the server that show most of a brand. */
const SAMPLES: Readonly<Record<string, string>> = {
  'page/sign-in': t('Sign-in'),
  'page/wrong-code': t('Code'),
  'page/sign-up': t('Sign-up'),
  'page/second-factor': t('Second factor'),
  'page/consent': t('Consent'),
  'mail/sign-in': t('Mail with a code'),
  'mail/invitation': t('Mail of an invitation'),
}
const SCHEMES = { light: t('Light'), dark: t('Dark') } as const
const WIDTHS = { phone: 390, desktop: 1280 } as const
const HEIGHT = 760

/** The settings that decide how a page looks. */
const SHOWN = [
  'themeColor',
  'darkThemeColor',
  'logoUrl',
  'darkLogoUrl',
  'faviconUrl',
  'cornerRadius',
  'font',
  'textOverrides',
] as const satisfies (keyof Settings)[]
/** The server reads forms of 64 KB. */
const MAX_LENGTH = 60_000

/** The settings as REST has them: those that are not saved, if all are too many for a form. */
function formatSettings(values: Settings, changed: readonly string[]): string {
  const format = (names: readonly (keyof Settings)[]): string =>
    JSON.stringify(
      Object.fromEntries(
        names.map((name) => [name, name === 'font' ? values.font.toLowerCase() : values[name]]),
      ),
    )
  const all = format(SHOWN)
  return encodeURIComponent(all).length < MAX_LENGTH
    ? all
    : format(SHOWN.filter((name) => changed.includes(name)))
}

/** Until a person stops typing. */
const WAIT_MS = 250

/**
 * A document that the server makes of settings that are not saved. The next one is loaded behind the present one, so that
 * nothing flickers; a frame of its own leaves no entry in the history.
 */
function PreviewFrame({
  action,
  settings,
  scheme,
  width,
  title,
}: {
  action: string
  settings: string
  scheme: keyof typeof SCHEMES
  width: number
  title: string
}) {
  const key = JSON.stringify([action, settings])
  const [frames, setFrames] = useState<readonly string[]>([])
  const place = useRef<HTMLDivElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const [scale, setScale] = useState(1)
  const count = useRef(0)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) =>
      setScale(Math.min(1, (entry?.contentRect.width ?? width) / width)),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [width])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key has what the document depends on
  useEffect(() => {
    const timer = setTimeout(
      () => setFrames((former) => [...former.slice(-1), `preview-${count.current++}`]),
      count.current === 0 ? 0 : WAIT_MS,
    )
    return () => clearTimeout(timer)
  }, [key])
  const newest = frames.at(-1)
  useEffect(() => {
    if (!newest || !form.current) return
    form.current.target = newest
    form.current.submit()
  }, [newest])
  return (
    <div ref={place} className="preview-frames" style={{ height: HEIGHT * scale }}>
      <form ref={form} method="post" action={action} hidden>
        <input type="hidden" name="settings" value={settings} />
      </form>
      {frames.map((name) => (
        <iframe
          key={name}
          name={name}
          title={title}
          sandbox=""
          aria-hidden={name === newest ? undefined : true}
          style={{
            width,
            height: HEIGHT,
            colorScheme: scheme,
            transform: `translateX(-50%) scale(${scale})`,
          }}
          // A frame loads twice: empty, and with the document.
          onLoad={() => form.current?.target === name && setFrames([name])}
        />
      ))}
    </div>
  )
}

/** The pages and mails with the settings of the form, on a phone or a desktop, in any language. */
export function BrandPreview() {
  const { values, changed } = useSettings()
  const navigate = route.useNavigate()
  const search = route.useSearch()
  const sample = search.sample && search.sample in SAMPLES ? search.sample : 'page/sign-in'
  const language = search.language && search.language in PAGE_LANGUAGES ? search.language : 'en'
  const scheme = search.scheme === 'dark' ? 'dark' : 'light'
  const width = search.width === 'desktop' ? 'desktop' : 'phone'
  const choose = (change: Record<string, string>) =>
    void navigate({ search: (former) => ({ ...former, ...change }), replace: true })
  const choices = [
    ['sample', t('Page or mail'), sample, SAMPLES],
    ['language', t('Language'), language, PAGE_LANGUAGES],
    ['scheme', t('Appearance'), scheme, SCHEMES],
    ['width', t('Width'), width, { phone: t('Phone'), desktop: t('Desktop') }],
  ] as const
  return (
    <section className="card preview" aria-label={t('Preview')}>
      <div className="choices">
        {choices.map(([name, label, value, options]) => (
          <label key={name}>
            <span>{label}</span>
            <select value={value} onChange={({ target }) => choose({ [name]: target.value })}>
              {Object.entries(options).map(([option, text]) => (
                <option key={option} value={option}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        ))}
      </div>
      <PreviewFrame
        action={`${deployment.issuer}/brand/preview/${sample}?ui_locales=${language}`}
        settings={formatSettings(values, changed)}
        scheme={scheme}
        width={WIDTHS[width]}
        title={t('Preview of {sample}', { sample: SAMPLES[sample] })}
      />
      <p className="hint">
        {t('Preview with sample data, also of what is not saved. Its buttons do nothing.')}{' '}
        <a href={`${deployment.issuer}/brand/preview`} target="_blank" rel="noreferrer">
          {t('All pages and mails')}
        </a>
      </p>
    </section>
  )
}
