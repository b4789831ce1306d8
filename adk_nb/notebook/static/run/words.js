/** Times, counts and amounts as people say them. */

export function duration(seconds) {
  if (seconds < 0.0995) {
    const ms = seconds * 1000;
    return `${ms < 0.095 ? ms.toFixed(2) : ms < 9.95 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
  }
  if (seconds < 59.95) return `${seconds < 9.95 ? seconds.toFixed(1) : seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** How long ago, short enough for a node's second line. */
export function ago(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min` : `${Math.floor(whole / 3600)} h`;
}

export const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });

/** US dollars, with as many digits as tell something. */
export function money(dollars) {
  const digits = dollars === 0 || dollars >= 1 ? 2 : Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(dollars))));
  return `$${dollars.toFixed(digits)}`;
}
