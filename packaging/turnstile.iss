; The installer for Windows, made by Inno Setup 6: `ISCC /DVersion=X /DSource=FOLDER /OFOLDER turnstile.iss`.
; `packaging/make_bundle.py` calls it. It installs for one user without rights, or for all with them.

[Setup]
AppId={{6B2F0C57-33A4-4F0B-9E9C-6B7E2B1D6F11}
AppName=Turnstile
AppVersion={#Version}
AppPublisher=The Turnstile maintainers
DefaultDirName={autopf}\Turnstile
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
LicenseFile=..\LICENSE
OutputBaseFilename=turnstile-{#Version}-windows-x86_64
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
ChangesEnvironment=yes
UninstallDisplayIcon={app}\turnstile.exe
#ifdef Signed
SignTool=sign
#endif

[Tasks]
Name: path; Description: "Add turnstile to the path"
Name: association; Description: "Open .turnstile documents with Turnstile"

[Files]
Source: "{#Source}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Turnstile"; Filename: "{app}\turnstile.exe"; WorkingDir: "{userdocs}"

[Registry]
Root: HKA; Subkey: "Software\Classes\.turnstile"; ValueType: string; ValueData: "Turnstile.Document"; Tasks: association; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.turnstile"; ValueType: string; ValueName: "Content Type"; ValueData: "application/x-turnstile"; Tasks: association; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Turnstile.Document"; ValueType: string; ValueData: "Turnstile document"; Tasks: association; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Turnstile.Document\DefaultIcon"; ValueType: string; ValueData: "{app}\turnstile.exe,0"; Tasks: association
Root: HKA; Subkey: "Software\Classes\Turnstile.Document\shell\open\command"; ValueType: string; ValueData: """{app}\turnstile.exe"" ""%1"""; Tasks: association
Root: HKCU; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Tasks: path; Check: IsNotOnPath

[Code]
function IsNotOnPath: Boolean;
var
  Path: string;
begin
  Path := '';
  RegQueryStringValue(HKCU, 'Environment', 'Path', Path);
  Result := Pos(';' + Lowercase(ExpandConstant('{app}')) + ';', ';' + Lowercase(Path) + ';') = 0;
end;

procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Path, Entry: string;
  At: Integer;
begin
  if (Step <> usPostUninstall) or not RegQueryStringValue(HKCU, 'Environment', 'Path', Path) then
    exit;
  Entry := ';' + ExpandConstant('{app}');
  At := Pos(Lowercase(Entry) + ';', Lowercase(Path) + ';');
  if At > 0 then
  begin
    Delete(Path, At, Length(Entry));
    RegWriteExpandStringValue(HKCU, 'Environment', 'Path', Path);
  end;
end;
