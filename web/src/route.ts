// The state of the page is its address: #1/PROFILE/SCREEN/WHAT?key=value. Going somewhere is a step
// that "back" undoes; choosing how something looks replaces the step.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  profile: number;
  screen: string;
  what: string;
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path, query] = hash.replace(/^#/, "").split("?", 2);
  const [version, profile, screen, ...what] = path.split("/");
  if (version !== "1") return { profile: 0, screen: "overview", what: "", query: new URLSearchParams() };
  return {
    profile: Number(profile) || 0,
    screen: screen || "overview",
    what: what.join("/"),
    query: new URLSearchParams(query),
  };
}

export function address(route: Pick<Route, "profile" | "screen"> & Partial<Route>): string {
  const query = route.query?.toString();
  return `#1/${route.profile}/${route.screen}${route.what ? `/${route.what}` : ""}${query ? `?${query}` : ""}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const read = () => setRoute(parseRoute(location.hash));
    window.addEventListener("hashchange", read);
    window.addEventListener("culprit-route", read);
    return () => {
      window.removeEventListener("hashchange", read);
      window.removeEventListener("culprit-route", read);
    };
  }, []);
  return route;
}

export function go(route: Pick<Route, "profile" | "screen"> & Partial<Route>): void {
  location.hash = address(route);
}

/// Changes how the screen at hand looks. "" takes a key away.
export function tweak(changes: Record<string, string>): void {
  const route = parseRoute(location.hash);
  for (const [key, value] of Object.entries(changes)) {
    if (value === "") route.query.delete(key);
    else route.query.set(key, value);
  }
  history.replaceState(null, "", address(route));
  window.dispatchEvent(new Event("culprit-route"));
}
