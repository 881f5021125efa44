import { toAssetPath } from './asset-path.ts'

/** Shows times in the time zone of the browser. Without it, they are in UTC, which is named. */
export const LOCAL_TIME_SCRIPT = `(() => {
  const locale = document.documentElement.lang + '-u-nu-latn'
  for (const time of document.querySelectorAll('time[data-local]'))
    time.textContent = new Intl.DateTimeFormat(locale, {
      dateStyle: time.dataset.local,
      timeStyle: 'short'
    }).format(new Date(time.dateTime))
})()
`

export const LOCAL_TIME_SCRIPT_PATH = toAssetPath(LOCAL_TIME_SCRIPT, 'js')
