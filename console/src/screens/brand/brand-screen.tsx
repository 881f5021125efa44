import { useState } from 'react'
import { Field } from '../../parts/form.tsx'
import { ChoiceSetting, NumberSetting, TextSetting } from '../../parts/setting-fields.tsx'
import { SettingsForm, useSetting } from '../../parts/settings-form.tsx'
import { BrandPreview } from './brand-preview.tsx'
import { MessageServers } from './message-servers.tsx'
import { TextOverrides } from './text-overrides.tsx'
import './brand.css'
import { t } from '../../words/words.ts'

const FONTS = {
  SYSTEM: t('That of the device'),
  HUMANIST: t('Humanist'),
  GEOMETRIC: t('Geometric'),
  ROUNDED: t('Rounded'),
  SERIF: t('With serifs'),
  MONOSPACE: t('Monospace'),
}

/** A color as text, and by the picker of the browser. */
function ColorSetting({ name, fallback }: { name: 'themeColor' | 'darkThemeColor'; fallback: string }) {
  const { label, value, change, problem } = useSetting(name)
  return (
    <Field
      label={label}
      name={name}
      hint={t('As #rrggbb. Shades with enough contrast are computed.')}
      problem={problem}
    >
      {(props) => (
        <div className="amount">
          <input
            type="color"
            aria-label={t('Pick: {label}', { label })}
            value={/^#[0-9a-f]{6}$/i.test(value ?? '') ? (value ?? fallback) : fallback}
            onChange={({ target }) => change(target.value)}
          />
          <input
            {...props}
            value={value ?? ''}
            autoComplete="off"
            spellCheck={false}
            placeholder={t('Not set')}
            onChange={({ target }) => change(target.value || null)}
          />
        </div>
      )}
    </Field>
  )
}

/** A larger file is not read: the server does not accept it. */
const MAX_IMAGE_KB = 32

/** An image by its https URL, or as a file of this device, which is stored in the settings. */
function ImageSetting({ name, hint }: { name: 'logoUrl' | 'darkLogoUrl' | 'faviconUrl'; hint?: string }) {
  const { label, value, change, problem } = useSetting(name)
  const isFile = value?.startsWith('data:') ?? false
  const [tooLarge, setTooLarge] = useState<string | null>(null)
  const read = (file: File | undefined): void => {
    if (!file) return
    const size = Math.ceil(file.size / 1024)
    setTooLarge(
      size > MAX_IMAGE_KB
        ? t('{name} has {size} KB. An image has {MAX_IMAGE_KB} KB at most.', {
            name: file.name,
            size,
            MAX_IMAGE_KB,
          })
        : null,
    )
    if (size > MAX_IMAGE_KB) return
    const reader = new FileReader()
    reader.onload = () => change(String(reader.result))
    reader.readAsDataURL(file)
  }
  return (
    <div className="image-setting">
      <Field label={label} name={name} hint={hint} problem={problem}>
        {(props) => (
          <input
            {...props}
            type="url"
            placeholder="https://"
            autoComplete="off"
            readOnly={isFile}
            value={
              isFile
                ? t('A file of {size} KB', { size: Math.round(((value?.length ?? 0) * 3) / 4 / 1024) })
                : (value ?? '')
            }
            onChange={({ target }) => change(target.value || null)}
          />
        )}
      </Field>
      <p className="field-problem" role="status" hidden={!tooLarge}>
        {tooLarge}
      </p>
      <div className="actions">
        <label className="button quiet small file">
          {t('Choose a file…')}
          <input
            type="file"
            className="hidden"
            accept="image/png,image/jpeg,image/webp"
            aria-label={t('File: {label}', { label })}
            onChange={({ target }) => {
              read(target.files?.[0])
              // The browser reports no change when the same file is chosen again.
              target.value = ''
            }}
          />
        </label>
        {value && (
          <button type="button" className="button quiet small" onClick={() => change(null)}>
            {t('Remove')}
          </button>
        )}
      </div>
    </div>
  )
}

/** The texts and the brand of the pages and mails, beside a page as they make it. */
export const BrandScreen = () => (
  <SettingsForm title={t('Texts and brand')} aside={<BrandPreview />}>
    <section className="card">
      <h2>{t('Colors and shape')}</h2>
      <ColorSetting name="themeColor" fallback="#2f5bd8" />
      <ColorSetting name="darkThemeColor" fallback="#2f5bd8" />
      <NumberSetting name="cornerRadius" hint={t('Of buttons and fields, in pixels: 0 to 24.')} />
      <ChoiceSetting name="font" options={FONTS} hint={t('Fonts that devices have. None is loaded.')} />
    </section>
    <section className="card">
      <h2>{t('Images')}</h2>
      <ImageSetting
        name="logoUrl"
        hint={t('PNG, JPEG or WebP of 32 KB at most, or the https URL of an image.')}
      />
      <ImageSetting name="darkLogoUrl" />
      <ImageSetting name="faviconUrl" />
    </section>
    <section className="card">
      <h2>{t('Sender of mails')}</h2>
      <TextSetting name="mailSenderName" />
      <TextSetting
        name="mailSenderAddress"
        type="email"
        hint={t(
          'With a mail server of your own, any; otherwise at a domain that the deployment permits (MAIL_DOMAINS).',
        )}
      />
      <TextSetting name="mailReplyTo" type="email" />
    </section>
    <MessageServers />
    <TextOverrides />
  </SettingsForm>
)
